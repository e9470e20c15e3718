import type {Source} from '../../lines.ts';
import {tableRows} from './csv.ts';
import type {ImportRow} from './import-row.ts';
import {isLineJson, jsonRows, ndjsonRows} from './json.ts';
import {type Mapping, mapped} from './mapping.ts';

/** The columns of a dashboard's export, in lower case: the field of the API, and how a cell becomes its value. */
export type DashboardColumns = Record<string, readonly [field: string, value?: (cell: string) => unknown]>;

const nameOf = (heading: string): string => heading.trim().toLowerCase();

/** Whether a heading has all of these columns. */
export const hasColumns = (heading: string[], ...names: string[]): boolean =>
	names.every((name) => heading.some((cell) => nameOf(cell) === name));

/** A list of names in a cell, as JSON or separated by one of `, ; |`. */
export const namesIn = (cell: string): string[] =>
	cell
		.replaceAll(/^\[|\]$|"/g, '')
		.split(/[,;|]/)
		.flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/** A short URL, which dashboards show without its scheme. */
export const withScheme = (cell: string): string => (cell.includes('://') ? cell : `https://${cell}`);

/**
 * The rows of a CSV file that a service's dashboard exports, read as its API's objects. Columns without a field there
 * are reported as not carried over.
 */
export const dashboardRows = (source: Source, head: string, columns: DashboardColumns, mapping: Mapping) =>
	tableRows(source, head, (headings) => ({
		isHeading: true,
		width: headings.length,
		rowOf: (cells) => {
			const row: Record<string, unknown> = {};
			const left: string[] = [];
			for (const [index, heading] of headings.entries()) {
				const cell = cells[index]?.trim() ?? '';
				const name = nameOf(heading);
				const [field, read = (text: string): unknown => text] = Object.hasOwn(columns, name)
					? (columns[name] ?? [])
					: [];
				if (field !== undefined && cell !== '') {
					row[field] = read(cell);
				} else if (cell !== '') {
					left.push(heading.trim());
				}
			}

			return mapped(mapping, row, left);
		},
	}));

/** The rows of a service's objects in JSON. */
export async function* objectRows(source: Source, head: string, mapping: Mapping): AsyncGenerator<ImportRow> {
	for await (const given of isLineJson(head) ? ndjsonRows(source) : jsonRows(source)) {
		const {row, ...place} = given;
		yield row === undefined ? given : ({...place, ...mapped(mapping, row)} as ImportRow);
	}
}

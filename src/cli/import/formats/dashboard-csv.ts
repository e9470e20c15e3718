import {csvWrapping, recordFault} from './csv.ts';
import {csvRecords} from './csv-records.ts';
import {type ForeignLink, type LinkMapper, mapped} from './foreign-fields.ts';
import type {ImportRow} from './import-row.ts';
import type {Source} from './lines.ts';

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

const withLeft = ({link, facts}: ForeignLink, left: string[]): ForeignLink => ({
	link,
	facts: {...facts, left: [...facts.left, ...left]},
});

/**
 * The rows of a CSV file that a service's dashboard exports, read as its API's objects. Columns without a field there
 * are reported as not carried over.
 */
export async function* dashboardRows(
	source: Source,
	head: string,
	columns: DashboardColumns,
	mapper: LinkMapper<Record<string, unknown>>,
): AsyncGenerator<ImportRow> {
	let headings: string[] | null = null;
	let wrapping = csvWrapping(head, null);
	for await (const record of csvRecords(source, head)) {
		const {cells, raw, line} = record;
		if (headings === null) {
			headings = cells;
			wrapping = csvWrapping(head, raw);
			continue;
		}

		const error = recordFault(record, headings.length);
		if (error !== null) {
			yield {line, raw, wrapping, error};
			continue;
		}

		const row: Record<string, unknown> = {};
		const left: string[] = [];
		for (const [index, heading] of headings.entries()) {
			const cell = cells[index]?.trim() ?? '';
			const name = nameOf(heading);
			const [field, read = (text: string): unknown => text] = Object.hasOwn(columns, name) ? (columns[name] ?? []) : [];
			if (field !== undefined && cell !== '') {
				row[field] = read(cell);
			} else if (cell !== '') {
				left.push(heading.trim());
			}
		}

		yield mapped({line, raw, wrapping}, row, (fields) => withLeft(mapper(fields), left));
	}
}

import {isObject, readOnlyFields} from '../../../links/links/import/canonical-json.ts';
import {unguarded} from '../../../platform/formula-guard.ts';
import {isTooDeep} from '../../../platform/http/storable.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {counted} from '../../../platform/text.ts';
import {usageError} from '../../cli-errors.ts';
import type {Source} from '../../lines.ts';
import {csvColumns} from '../../link-fields.ts';
import {type CsvRecord, csvRecords} from './csv-records.ts';
import {truthOf} from './foreign-fields.ts';
import {type ImportRow, lengthFault, putField, type RowFraming} from './import-row.ts';

/** How the records of a CSV file become rows; `isHeading` says whether the first record is one. */
export type Table = {
	isHeading: boolean;
	width: number;
	rowOf: (cells: string[]) => Pick<ImportRow, 'row' | 'foreign' | 'error'>;
};

/** Why a record does not fit the table; null if it does. */
const recordFault = ({cells: {length: has}, raw, openQuote}: CsvRecord, columns: number): string | null =>
	lengthFault(raw) ??
	(openQuote === null ? null : `has a quote that opens in line ${openQuote} and is not closed there`) ??
	(has === columns ? null : `has ${counted(has, 'cell')} where ${columns} are expected`);

/** The texts in a cell: a JSON array, or separated by `;`. */
export const textsIn = (cell: string): string[] => {
	const texts = parseJson(cell);
	return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
		? texts
		: cell.split(';').flatMap((text) => (text.trim() === '' ? [] : [text.trim()]));
};

const coerced = (field: string, cell: string): unknown => {
	const kind = csvColumns.get(field);
	if (kind === 'texts') {
		return textsIn(cell);
	}

	if (kind === 'flag') {
		return truthOf(cell) ?? cell;
	}

	return kind === 'count' && /^\s*\d+\s*$/.test(cell) ? Number(cell) : cell;
};

/**
 * Converts a record to a request body: `og.title` and `params.NAME` become objects, empty cells are omitted. Null if its
 * `params` are no JSON object.
 */
const bodyOf = (columns: string[], cells: string[]): Record<string, unknown> | null => {
	const body: Record<string, unknown> = {};
	for (const [index, column] of columns.entries()) {
		const cell = cells[index] ?? '';
		// By its organization the server knows a row of an export.
		if (cell === '' || (readOnlyFields.has(column) && column !== 'organizationId')) {
			continue;
		}

		const value = unguarded(cell);
		if (column === 'params') {
			const params = parseJson(value);
			if (!isObject(params) || isTooDeep(params)) {
				return null;
			}

			body['params'] = {...params, ...(body['params'] as object | undefined)};
		} else {
			putField(body, column, coerced(column, value));
		}
	}

	return body;
};

const checkColumns = (columns: string[]): void => {
	const isKnown = (column: string) =>
		csvColumns.has(column) || readOnlyFields.has(column) || column === 'params' || /^params\../s.test(column);
	const unknown = columns.filter((column) => !isKnown(column));
	if (unknown.length > 0) {
		throw usageError(
			`Unknown column${unknown.length > 1 ? 's' : ''} ${unknown.map((column) => `'${column}'`).join(', ')} in line 1`,
			`Columns are ${[...csvColumns.keys()].join(', ')} and params.NAME`,
		);
	}

	const twice = columns.find((column, index) => columns.indexOf(column) !== index);
	if (twice !== undefined) {
		throw usageError(`Column '${twice}' appears twice in line 1`);
	}
};

/**
 * The rows of a CSV file; `begin` makes the table of its first record, `head` is the known start of the file. Failed rows
 * are written below their heading, with the byte order mark and line ends of the file.
 * @throws OperatorError for invalid CSV.
 */
export async function* tableRows(
	source: Source,
	head: string,
	begin: (first: string[]) => Table,
): AsyncGenerator<ImportRow> {
	const end = /^[^\n]*\r\n/.test(head) ? '\r\n' : '\n';
	const wrapping: RowFraming = {open: head.startsWith('\uFEFF') ? '\uFEFF' : '', between: end, close: end};
	let table: Table | null = null;
	for await (const record of csvRecords(source, head)) {
		const {cells, raw, line} = record;
		if (table === null) {
			table = begin(cells);
			if (table.isHeading) {
				wrapping.open += raw + end;
				continue;
			}
		}

		const error = recordFault(record, table.width);
		yield {line, raw, wrapping, ...(error === null ? table.rowOf(cells) : {error})} as ImportRow;
	}
}

/** The rows of a CSV file with our own columns, named by the first record. @throws OperatorError for an unknown column. */
export const csvRows = (source: Source, head = ''): AsyncGenerator<ImportRow> =>
	tableRows(source, head, (heading) => {
		const columns = heading.map((cell) => cell.trim());
		checkColumns(columns);
		return {
			isHeading: true,
			width: columns.length,
			rowOf: (cells) => {
				const row = bodyOf(columns, cells);
				return row === null ? {error: 'params is not a JSON object'} : {row};
			},
		};
	});

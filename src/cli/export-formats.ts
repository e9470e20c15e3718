import {stringify} from 'csv-stringify/sync';
import {guarded, textsIn} from './import/formats/csv.ts';
import {linkColumns} from './link-fields.ts';
import {safeJson} from './terminal/printable.ts';

type Row = Record<string, unknown>;
type Formatter = (rows: AsyncIterable<Row>) => AsyncIterable<string>;

const ndjson: Formatter = async function* (rows) {
	for await (const row of rows) {
		yield `${safeJson(JSON.stringify(row))}\n`;
	}
};

const json: Formatter = async function* (rows) {
	let before = '[\n';
	for await (const row of rows) {
		yield before + safeJson(JSON.stringify(row));
		before = ',\n';
	}

	yield before === '[\n' ? '[]\n' : '\n]\n';
};

/** Texts separated by `;`, or as JSON if they would be misread. */
const listCell = (texts: unknown[]): string => {
	const cell = texts.join(';');
	return JSON.stringify(textsIn(cell)) === JSON.stringify(texts) ? cell : JSON.stringify(texts);
};

const cell = (value: unknown): string => {
	if (value === null || value === undefined) {
		return '';
	}

	return Array.isArray(value) ? listCell(value) : typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const fieldOf = (row: Row, column: string): unknown => {
	const [object = '', inner] = column.split('.');
	return inner === undefined ? row[object] : (row[object] as Row | null | undefined)?.[inner];
};

/**
 * The columns that an import reads, and `organizationId`, by which it knows an exported row. Parameters differ from
 * link to link, so they share the column `params` as JSON. A cell that a spreadsheet would take for a formula gets an
 * apostrophe, which the import removes: reading returns what was written.
 */
const csv: Formatter = async function* (rows) {
	const columns = [...linkColumns, 'organizationId', 'params'];
	const line = (cells: string[]) => stringify([cells], {quoted_match: '\r'});
	yield line(columns);
	for await (const row of rows) {
		yield line(columns.map((column) => guarded(cell(fieldOf(row, column)))));
	}
};

export const exportFormats = {csv, json, ndjson} as const satisfies Record<string, Formatter>;
export type ExportFormatName = keyof typeof exportFormats;
export const exportFormatNames = Object.keys(exportFormats) as ExportFormatName[];

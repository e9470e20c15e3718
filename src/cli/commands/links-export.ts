import type {FileHandle} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import {stringify} from 'csv-stringify/sync';
import {guarded} from '../../platform/formula-guard.ts';
import {counted} from '../../platform/text.ts';
import {type Context, command} from '../command.ts';
import {orgOption, requireCsv, spreadsheetOptions} from '../common-options.ts';
import {textsIn} from '../import/formats/csv.ts';
import {linesOf} from '../lines.ts';
import {csvColumns} from '../link-fields.ts';
import {replaceFile} from '../replace-file.ts';
import {type LinkSurface, linkSurface} from '../server/link-surface.ts';
import {eachPage, listAt} from '../server/list-pages.ts';
import {writeData} from '../terminal/io.ts';
import {safeJson} from '../terminal/printable.ts';

type Row = Record<string, unknown>;
/** @param guard writes each cell of a CSV. */
type Formatter = (rows: AsyncIterable<Row>, guard: (cell: string) => string) => AsyncIterable<string>;

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
const csv: Formatter = async function* (rows, guard) {
	const columns = [...csvColumns.keys(), 'organizationId', 'params'];
	const line = (cells: string[]) => stringify([cells], {quoted_match: '\r'});
	yield line(columns);
	for await (const row of rows) {
		yield line(columns.map((column) => guard(cell(fieldOf(row, column)))));
	}
};

const exportFormats = {csv, json, ndjson} as const satisfies Record<string, Formatter>;
type ExportFormatName = keyof typeof exportFormats;
const exportFormatNames = Object.keys(exportFormats) as ExportFormatName[];

type Options = {output?: string; format: ExportFormatName; spreadsheet?: boolean};

/** All links: one stream of the admin API, or page by page with a SERVER key, which has no stream. */
const rowsOf = async function* ({client, org, path: base}: LinkSurface): AsyncGenerator<Row> {
	if (org !== null) {
		for await (const line of linesOf(client.stream(`${base}/links/export`))) {
			yield JSON.parse(line) as Row;
		}

		return;
	}

	for await (const {data} of eachPage(listAt<Row>(client, '/links'))) {
		yield* data;
	}
};

const PIECE_CHARACTERS = 2 ** 16;

/** Joins texts into chunks large enough for a system call. */
const eachPiece = async (texts: AsyncIterable<string>, take: (piece: string) => Promise<unknown>): Promise<void> => {
	let piece = '';
	for await (const text of texts) {
		piece += text;
		if (piece.length >= PIECE_CHARACTERS) {
			await take(piece);
			piece = '';
		}
	}

	await take(piece);
};

/** Links describe no person, so the umask decides who may read them. */
const MODE = 0o666;

export const exportCommand = command({
	usage: 'export',
	summary: 'Export all links',
	about: 'links import reads every format.',
	examples: ['export --org Ab12 > links.ndjson', 'export --format csv --output links.csv'],
	options: [
		orgOption(),
		new Option('--output <file>', 'file to write (default: standard output)'),
		new Option('--format <format>', 'output format').choices(exportFormatNames).default('ndjson'),
		...spreadsheetOptions({format: 'csv'}),
	],
	run: async (context: Context<Options>) => {
		const {io, options, show} = context;
		requireCsv(options);
		const surface = await linkSurface(context);
		let count = 0;
		const rows = async function* () {
			for await (const row of rowsOf(surface)) {
				count += 1;
				yield row;
			}
		};
		const texts = exportFormats[options.format](rows(), options.spreadsheet === false ? String : guarded);
		if (options.output === undefined || options.output === '-') {
			await eachPiece(texts, (piece) => writeData(io.stdout, piece));
			return;
		}

		const write = (handle: FileHandle) => eachPiece(texts, (piece) => handle.writeFile(piece));
		await replaceFile(path.resolve(io.cwd, options.output), write, MODE);
		await show.note(`${counted(count, 'link')} written to ${options.output}`);
	},
});

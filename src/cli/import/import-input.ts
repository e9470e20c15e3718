import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {addAbortSignal, type Readable} from 'node:stream';
import {InvalidArgumentError, Option} from 'commander';
import {OperatorError, usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {decoded, type Source} from '../lines.ts';
import type {ImportRow} from './formats/import-row.ts';
import {
	type Guess,
	guessFormat,
	type ImportFormat,
	type ImportFormatName,
	importFormatNames,
	importFormats,
} from './formats/read-rows.ts';

/** The formats, for a file that does not show its own. */
export type InputOptions = {format?: ImportFormatName; encoding?: string};

const encodingNamed = (label: string): string => {
	try {
		return new TextDecoder(label, {fatal: true}).encoding;
	} catch {
		throw new InvalidArgumentError('It must be a WHATWG encoding name, such as utf-8, latin1 or utf-16le.');
	}
};

/** Options of all commands that read such a file. */
export const inputOptions = (): Option[] => [
	new Option('--format <format>', 'format of the file (default: from its extension and content)').choices(
		importFormatNames,
	),
	new Option('--encoding <encoding>', 'encoding of the file, such as latin1 (default: utf-8)').argParser(encodingNamed),
];

/**
 * An opened import file. `size` in bytes and `file` are null for standard input. If reading fails, the rows end there,
 * so that pending ones are answered; `fault` is then the reason.
 */
export type ImportInput = {
	name: string;
	file: string | null;
	size: number | null;
	format: ImportFormat;
	rows: AsyncIterable<ImportRow>;
	fault: () => OperatorError | null;
};

/** The least of a file that shows its format; a file is read in larger pieces than standard input comes in. */
const HEAD_BYTES = 4096;

/** The start of a stream, and the whole of it. @param line whether its first line is enough. */
const peek = async (input: Readable, {line}: {line: boolean}): Promise<{bytes: Buffer; source: Source}> => {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of input.iterator({destroyOnReturn: false})) {
		chunks.push(Buffer.from(chunk));
		length += chunk.length;
		if (length >= HEAD_BYTES || (line && chunk.includes(0x0a))) {
			break;
		}
	}

	const source = async function* () {
		yield* chunks;
		yield* input;
	};
	return {bytes: Buffer.concat(chunks), source: source()};
};

const unrecognized = (name: string) =>
	usageError(
		name === '-' ? 'Standard input has no recognizable format' : `'${name}' has no recognizable format`,
		`Add --format ${importFormatNames.join('|')}`,
	);

const readers: Record<ImportFormatName, string> = {
	csv: 'CSV',
	json: 'JSON',
	ndjson: 'NDJSON',
	firebase: 'the CSV export of Firebase Dynamic Links',
	branch: 'links of Branch',
	bitly: 'links of Bitly',
	dub: 'links of Dub',
};

/** The start of a file, as text. @throws OperatorError for undeclared UTF-16, of which every row would fail. */
const textOfHead = (bytes: Buffer, encoding: string | undefined): string => {
	const mark = bytes.subarray(0, 2).toString('hex');
	const found = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : null;
	if (encoding === undefined && found !== null) {
		throw usageError(`The file begins as ${found.toUpperCase()}`, `Add --encoding ${found}`);
	}

	return new TextDecoder(encoding, {ignoreBOM: true}).decode(bytes, {stream: true});
};

type Kind = {is: (start: string) => boolean; what: string; next: string};

const SAVE_HINT = 'Save it as CSV (UTF-8) there, and import that file';
const isZip = (start: string, ...parts: string[]): boolean =>
	start.startsWith('PK\x03\x04') && parts.every((part) => start.includes(part));

/** Files that are mistaken for a list of links, by their first bytes; the first match counts. */
const kinds: Kind[] = [
	{is: (start) => isZip(start, '[Content_Types].xml'), what: 'an Excel workbook (.xlsx)', next: SAVE_HINT},
	{is: (start) => isZip(start, 'opendocument'), what: 'an OpenDocument spreadsheet (.ods)', next: SAVE_HINT},
	{is: (start) => isZip(start, 'Index/'), what: 'a Numbers spreadsheet', next: SAVE_HINT},
	{is: (start) => isZip(start), what: 'a ZIP archive', next: 'Unpack it, and import a file of it'},
	{is: (start) => start.startsWith('\xd0\xcf\x11\xe0'), what: 'an Excel workbook (.xls)', next: SAVE_HINT},
	{
		is: (start) => start.startsWith('\x1f\x8b'),
		what: 'a gzip file',
		next: 'Unpack it with gunzip, and import what it holds',
	},
	{is: (start) => start.startsWith('%PDF-'), what: 'a PDF document', next: 'Export the links as CSV or JSON'},
	{
		is: (start) => /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)/i.test(start),
		what: 'a page of HTML or XML',
		next: 'Download the file again, logged in',
	},
];

/** @throws OperatorError for the start of a file that holds no text of ours; `name` is the file's in words. */
const requireText = (bytes: Uint8Array, name: string): void => {
	const start = Buffer.from(bytes).toString('latin1');
	const kind = kinds.find(({is}) => is(start));
	if (kind !== undefined) {
		throw usageError(`${name} is ${kind.what}, not CSV or JSON`, kind.next);
	}
};

const untilFault = (rows: AsyncIterable<ImportRow>): Pick<ImportInput, 'rows' | 'fault'> => {
	let fault: OperatorError | null = null;
	const readable = async function* () {
		try {
			yield* rows;
		} catch (error) {
			if (!(error instanceof OperatorError)) {
				throw error;
			}

			fault = error;
		}
	};
	return {rows: readable(), fault: () => fault};
};

/**
 * Opens a file, or `-` for standard input, in the named format, else in the detected one. A guess that the file name
 * does not show is printed to stderr.
 * @throws OperatorError.
 */
export const openInput = async (
	{io, show}: Context,
	name: string,
	{format: named, encoding}: InputOptions,
): Promise<ImportInput> => {
	const rowsOf = (format: ImportFormat, source: Source, head?: string) =>
		untilFault(format.rows(decoded(source, encoding ?? 'utf-8'), head));
	const formatOf = async (head: string): Promise<ImportFormat> => {
		const guess: Guess | null = named ? {name: named, by: 'ending'} : guessFormat(name, head);
		if (guess === null) {
			throw unrecognized(name);
		}

		if (guess.by === 'content') {
			await show.note(
				`Reading ${name === '-' ? 'standard input' : name} as ${readers[guess.name]} (--format ${guess.name})`,
			);
		}

		return importFormats[guess.name];
	};

	const isFile = name !== '-';
	const file = isFile ? path.resolve(io.cwd, name) : null;
	const found = file === null ? null : await stat(file);
	if (found?.isFIFO() || found?.isCharacterDevice()) {
		throw usageError(`${file} is not a regular file`, 'Write - for it and give the rows on standard input');
	}

	const facts = {name: isFile ? name : 'standard input', file, size: found?.size ?? null};
	const input = addAbortSignal(io.interruption, file === null ? (io.stdin as Readable) : createReadStream(file));
	// Rows of a slow input are sent one by one, unless its start must be buffered.
	const isNamed = named === 'csv' || named === 'json' || named === 'ndjson';
	const {bytes, source} = await peek(input, {line: !isFile && isNamed});
	requireText(bytes, isFile ? `'${name}'` : 'Standard input');
	const head = textOfHead(bytes, encoding);
	const format = await formatOf(head);
	return {...facts, format, ...rowsOf(format, source, head)};
};

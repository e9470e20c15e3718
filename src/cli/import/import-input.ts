import {createReadStream} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {InvalidArgumentError, Option} from 'commander';
import {OperatorError, usageError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import type {Io} from '../terminal/io.ts';
import {decoded} from './formats/decoded.ts';
import {type Guess, guessFormat, HEAD_BYTES} from './formats/guess-format.ts';
import type {ImportRow} from './formats/import-row.ts';
import type {Source} from './formats/lines.ts';
import {type ImportFormat, type ImportFormatName, importFormatNames, importFormats} from './formats/read-rows.ts';

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

/** How much of standard input is buffered to detect its format. */
const STDIN_HEAD_BYTES = 4096;

type Head = {bytes: Buffer; size: number};

const headOf = async (file: string): Promise<Head> => {
	let handle: FileHandle | null = null;
	try {
		handle = await open(file);
		const found = await handle.stat();
		// Reading the start of a pipe would take it from the rows.
		if (found.isFIFO() || found.isCharacterDevice()) {
			throw usageError(`${file} is not a regular file`, 'Write - for it and give the rows on standard input');
		}

		const {buffer, bytesRead} = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
		return {bytes: buffer.subarray(0, bytesRead), size: found.size};
	} finally {
		await handle?.close();
	}
};

/** The start of a stream, and the whole of it. @throws the signal's reason if the input stalls. */
const peek = async ({stdin, interruption}: Io): Promise<{bytes: Buffer; source: Source}> => {
	const interrupted = new Promise<never>((_, reject) => {
		interruption.addEventListener('abort', () => reject(interruption.reason), {once: true});
	});
	interrupted.catch(() => {});
	const input = stdin[Symbol.asyncIterator]();
	const chunks: Buffer[] = [];
	let length = 0;
	let isDone = false;
	while (!isDone && length < STDIN_HEAD_BYTES) {
		const next = await Promise.race([input.next(), interrupted]);
		isDone = next.done === true;
		if (!isDone) {
			const chunk = Buffer.from(next.value as Uint8Array);
			chunks.push(chunk);
			length += chunk.length;
		}
	}

	const source = async function* () {
		yield* chunks;
		while (!isDone) {
			const next = await input.next();
			if (next.done) {
				return;
			}

			yield Buffer.from(next.value as Uint8Array);
		}
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

/** Rows that end where the input fails. */
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

	if (name !== '-') {
		const file = path.resolve(io.cwd, name);
		const {bytes, size} = await headOf(file);
		const head = textOfHead(bytes, encoding);
		const format = await formatOf(head);
		return {name, file, size, format, ...rowsOf(format, createReadStream(file), head)};
	}

	const facts = {name: 'standard input', file: null, size: null};
	// Rows of a slow input are sent one by one, unless its start must be buffered.
	if (named === 'csv' || named === 'json' || named === 'ndjson') {
		const format = importFormats[named];
		return {...facts, format, ...rowsOf(format, io.stdin as Readable)};
	}

	const {bytes, source} = await peek(io);
	const head = textOfHead(bytes, encoding);
	const format = await formatOf(head);
	return {...facts, format, ...rowsOf(format, source, head)};
};

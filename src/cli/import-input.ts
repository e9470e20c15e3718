import {createReadStream} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import path from 'node:path';
import {Option} from 'commander';
import {inputError, usageError} from './cli-errors.ts';
import type {Context} from './command.ts';
import {type Guess, guessFormat, HEAD_BYTES} from './import-formats/guess-format.ts';
import type {ImportRow} from './import-formats/import-row.ts';
import type {Source} from './import-formats/lines.ts';
import {
	type ImportFormat,
	type ImportFormatName,
	importFormatNames,
	importFormats,
} from './import-formats/read-rows.ts';
import type {Io} from './io.ts';

/** Option of every command that reads such a file. */
export const formatOption = (): Option =>
	new Option('--format <format>', 'format of the file; told by its ending and content where absent').choices(
		importFormatNames,
	);

/** What is imported. `size` in bytes, and `file`, are null for standard input. */
export type ImportInput = {
	name: string;
	file: string | null;
	size: number | null;
	format: ImportFormat;
	rows: AsyncIterable<ImportRow>;
};

/** How much of standard input is waited for where its format has to be told. */
const STDIN_HEAD_BYTES = 4096;

const headOf = async (name: string, file: string): Promise<{head: string; size: number}> => {
	let handle: FileHandle | null = null;
	try {
		handle = await open(file);
		const {buffer, bytesRead} = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
		const {size} = await handle.stat();
		return {head: buffer.toString('utf8', 0, bytesRead), size};
	} catch (error) {
		throw inputError(`Cannot read ${name}: ${(error as Error).message}`);
	} finally {
		await handle?.close();
	}
};

/** The beginning of a stream, and the whole of it. @throws the signal's reason where the input keeps us waiting. */
const peeked = async ({stdin, interruption}: Io): Promise<{head: string; source: Source}> => {
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
	return {head: Buffer.concat(chunks).toString(), source: source()};
};

const untold = (name: string) =>
	usageError(
		name === '-' ? 'Standard input does not tell its format' : `'${name}' does not tell its format`,
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

/**
 * Opens a file, or `-` for standard input, in the format that is named, else in the one that its beginning tells. A guess
 * that its name does not show is said on stderr.
 * @throws OperatorError.
 */
export const openInput = async (
	{io, show}: Context,
	name: string,
	named: ImportFormatName | undefined,
): Promise<ImportInput> => {
	const formatOf = async (head: string): Promise<ImportFormat> => {
		const guess: Guess | null = named ? {name: named, by: 'ending'} : guessFormat(name, head);
		if (guess === null) {
			throw untold(name);
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
		const {head, size} = await headOf(name, file);
		const format = await formatOf(head);
		return {name, file, size, format, rows: format.rows(createReadStream(file), head)};
	}

	const facts = {name: 'standard input', file: null, size: null};
	// Rows that come one by one are sent one by one, unless their beginning has to be known first.
	if (named === 'csv' || named === 'json' || named === 'ndjson') {
		const format = importFormats[named];
		return {...facts, format, rows: format.rows(io.stdin)};
	}

	const {head, source} = await peeked(io);
	const format = await formatOf(head);
	return {...facts, format, rows: format.rows(source, head)};
};

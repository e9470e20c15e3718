import {createHash, type Hash} from 'node:crypto';
import {
	altered,
	type BackupHead,
	type BackupTotals,
	FORMAT,
	foreignFormat,
	notABackup,
	truncated,
} from './archive-format.ts';

/** The parts of a backup in order. `rows` are JSON objects, in batches. */
export type ArchivePart =
	| {kind: 'head'; head: BackupHead}
	| {kind: 'table'; name: string; columns: string[]}
	| {kind: 'rows'; rows: string[]}
	| {kind: 'end'; totals: BackupTotals};

const BATCH_ROWS = 1000;
const BATCH_CHARACTERS = 2 ** 20;

const isTexts = (value: unknown): value is string[] =>
	Array.isArray(value) && value.every((item) => typeof item === 'string');

const isHead = (value: unknown): value is BackupHead => {
	const {program, madeAt, migrations} = (value ?? {}) as Partial<Record<string, unknown>>;
	return typeof program === 'string' && typeof madeAt === 'string' && isTexts(migrations);
};

/** The values of a mark, the word that names it first. */
const markOf = (line: string, number: number): unknown[] => {
	try {
		const mark: unknown = JSON.parse(line);
		if (Array.isArray(mark)) {
			return mark;
		}
	} catch {
		// A line that is not valid JSON is not ours.
	}

	throw number === 1 ? notABackup() : altered(`line ${number}`);
};

/**
 * Reads the lines of a backup and verifies their counts and checksums. Its output is not trustworthy before it ends,
 * because the last checksum comes last.
 * @throws BackupError.
 */
export async function* readArchive(lines: AsyncIterable<string>): AsyncGenerator<ArchivePart> {
	const contents = createHash('sha256');
	const totals = {tables: 0, rows: 0};
	let table: {name: string; rows: number; hash: Hash} | null = null;
	let batch: string[] = [];
	let characters = 0;
	let number = 0;
	let isEnded = false;
	for await (const line of lines) {
		number += 1;
		if (isEnded) {
			throw altered(`line ${number}`);
		}

		if (line.startsWith('{') && table !== null) {
			const text = `${line}\n`;
			table.hash.update(text);
			contents.update(text);
			table.rows += 1;
			characters += line.length;
			batch.push(line);
			if (batch.length >= BATCH_ROWS || characters >= BATCH_CHARACTERS) {
				yield {kind: 'rows', rows: batch};
				batch = [];
				characters = 0;
			}

			continue;
		}

		const [word, first, second] = markOf(line, number);
		if (number === 1) {
			if (word !== 'oplink backup') {
				throw notABackup();
			}

			if (first !== FORMAT) {
				throw foreignFormat(first);
			}

			if (!isHead(second)) {
				throw altered('line 1');
			}

			yield {kind: 'head', head: second};
		} else if (word === 'table' && table === null && typeof first === 'string' && isTexts(second)) {
			table = {name: first, rows: 0, hash: createHash('sha256')};
			yield {kind: 'table', name: table.name, columns: second};
		} else if (word === 'end of table' && table !== null && first === table.name) {
			const declared = second as {rows: number; sha256: string} | null | undefined;
			if (declared?.rows !== table.rows || declared.sha256 !== table.hash.digest('hex')) {
				throw altered(`the table ${table.name}`);
			}

			if (batch.length > 0) {
				yield {kind: 'rows', rows: batch};
			}

			batch = [];
			characters = 0;
			totals.tables += 1;
			totals.rows += table.rows;
			table = null;
		} else if (word === 'end of backup' && table === null) {
			const declared = first as BackupTotals | null | undefined;
			if (
				declared?.tables !== totals.tables ||
				declared.rows !== totals.rows ||
				declared.sha256 !== contents.digest('hex')
			) {
				throw altered('its contents');
			}

			isEnded = true;
			yield {kind: 'end', totals: declared};
		} else {
			throw altered(`line ${number}`);
		}

		if (!isEnded) {
			contents.update(`${line}\n`);
		}
	}

	if (!isEnded) {
		throw number === 0 ? notABackup() : truncated();
	}
}

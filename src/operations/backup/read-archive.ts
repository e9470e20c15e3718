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

/** @throws BackupError unless the first line has these values. */
const headOf = (word: unknown, format: unknown, head: unknown): BackupHead => {
	if (word !== 'oplink backup') {
		throw notABackup();
	}

	if (format !== FORMAT) {
		throw foreignFormat(format);
	}

	if (!isHead(head)) {
		throw altered('line 1');
	}

	return head;
};

/** Verifies the lines of a backup one by one. */
class ArchiveReader {
	readonly #contents = createHash('sha256');
	readonly #totals = {tables: 0, rows: 0};
	#table: {name: string; rows: number; hash: Hash} | null = null;
	#batch: string[] = [];
	#characters = 0;
	#number = 0;
	#isEnded = false;

	/** @returns the part that the line completes; null if none. @throws BackupError. */
	read(line: string): ArchivePart | null {
		this.#number += 1;
		if (this.#isEnded) {
			throw altered(`line ${this.#number}`);
		}

		const part = line.startsWith('{') && this.#table !== null ? this.#readRow(line, this.#table) : this.#readMark(line);
		if (!this.#isEnded) {
			this.#contents.update(`${line}\n`);
		}

		return part;
	}

	/** @throws BackupError if lines are missing. */
	end(): void {
		if (!this.#isEnded) {
			throw this.#number === 0 ? notABackup() : truncated();
		}
	}

	#readRow(line: string, table: {rows: number; hash: Hash}): ArchivePart | null {
		table.hash.update(`${line}\n`);
		table.rows += 1;
		this.#characters += line.length;
		this.#batch.push(line);
		return this.#batch.length >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS ? this.#takeRows() : null;
	}

	#takeRows(): ArchivePart {
		const rows = this.#batch;
		this.#batch = [];
		this.#characters = 0;
		return {kind: 'rows', rows};
	}

	#readMark(line: string): ArchivePart | null {
		const [word, first, second] = markOf(line, this.#number);
		const table = this.#table;
		if (this.#number === 1) {
			return {kind: 'head', head: headOf(word, first, second)};
		}

		if (word === 'table' && table === null && typeof first === 'string' && isTexts(second)) {
			this.#table = {name: first, rows: 0, hash: createHash('sha256')};
			return {kind: 'table', name: first, columns: second};
		}

		if (word === 'end of table' && table !== null && first === table.name) {
			const declared = second as {rows: number; sha256: string} | null | undefined;
			if (declared?.rows !== table.rows || declared.sha256 !== table.hash.digest('hex')) {
				throw altered(`the table ${table.name}`);
			}

			this.#totals.tables += 1;
			this.#totals.rows += table.rows;
			this.#table = null;
			return this.#batch.length > 0 ? this.#takeRows() : null;
		}

		if (word !== 'end of backup' || table !== null) {
			throw altered(`line ${this.#number}`);
		}

		const totals = first as BackupTotals | null | undefined;
		const {tables, rows} = this.#totals;
		if (totals?.tables !== tables || totals.rows !== rows || totals.sha256 !== this.#contents.digest('hex')) {
			throw altered('its contents');
		}

		this.#isEnded = true;
		return {kind: 'end', totals};
	}
}

/**
 * Reads the lines of a backup and verifies their counts and checksums. Its output is not trustworthy before it ends,
 * because the last checksum comes last.
 * @throws BackupError.
 */
export async function* readArchive(lines: AsyncIterable<string>): AsyncGenerator<ArchivePart> {
	const reader = new ArchiveReader();
	for await (const line of lines) {
		const part = reader.read(line);
		if (part !== null) {
			yield part;
		}
	}

	reader.end();
}

import {createHash} from 'node:crypto';

/** Formats the lines of a backup, and computes their counts and checksums. */
export const createArchiveWriter = () => {
	const contents = createHash('sha256');
	let table = {name: '', rows: 0, hash: createHash('sha256')};
	const totals = {tables: 0, rows: 0};
	const line = (mark: unknown[]): string => {
		const text = `${JSON.stringify(mark)}\n`;
		contents.update(text);
		return text;
	};

	return {
		head: (head: BackupHead): string => line(['oplink backup', FORMAT, head]),
		table: (name: string, columns: string[]): string => {
			table = {name, rows: 0, hash: createHash('sha256')};
			return line(['table', name, columns]);
		},
		/** @param rows each a JSON object without a line break. */
		rows: (rows: string[]): string => {
			const text = rows.map((row) => `${row}\n`).join('');
			table.rows += rows.length;
			table.hash.update(text);
			contents.update(text);
			return text;
		},
		endOfTable: (): string => {
			totals.tables += 1;
			totals.rows += table.rows;
			return line(['end of table', table.name, {rows: table.rows, sha256: table.hash.digest('hex')}]);
		},
		end: (): string => {
			const all: BackupTotals = {...totals, sha256: contents.digest('hex')};
			return `${JSON.stringify(['end of backup', all])}\n`;
		},
	};
};

/**
 * A backup is gzip'd text, a JSON value per line (docs/operating/production.md): objects are rows, arrays are marks between them.
 *
 *     ["oplink backup", 1, {program, madeAt, postgres, migrations}]
 *     ["table", "links", ["id", "organization_id", …]]
 *     {"id": …}
 *     ["end of table", "links", {"rows": 1, "sha256": …}]        of the table's rows
 *     ["end of backup", {"tables": 1, "rows": 1, "sha256": …}]    of every line above
 */
export const FORMAT = 1;

/** Longest line, in characters: two values of 10 MB, of which each byte takes seven. */
export const MAX_LINE = 2 ** 27;

/** Months with clicks, each with its own table: 20 years. */
export const MAX_MONTHS = 240;

export type BackupHead = {program: string; madeAt: string; postgres: string; migrations: string[]};
export type BackupTotals = {tables: number; rows: number; sha256: string};

/** Why a file is not a complete, unaltered backup of this program. */
export class BackupError extends Error {
	override name = 'BackupError';
}

export const nothingToBackUp = () => new BackupError('There is nothing to back up: the database has no tables yet');
export const notABackup = () => new BackupError('This file is not an Oplink backup');
export const truncated = () => new BackupError('The backup is incomplete: it ends early');
export const altered = (where: string) => new BackupError(`The backup is damaged or was altered: ${where} is invalid`);
export const otherTables = (name: string) =>
	new BackupError(`The backup does not fit: table '${name}' has other columns here, or is missing`);
const newerBackup = (program: string) =>
	new BackupError(`A newer version (${program}) made the backup, with tables unknown to this version: update first`);

/** @param known names of this version's migrations, oldest first. @throws BackupError for the backup of a newer one. */
export const requireKnown = ({program, migrations}: BackupHead, known: readonly string[]): void => {
	if (migrations.some((name, index) => name !== known[index])) {
		throw newerBackup(program);
	}
};

export const foreignFormat = (format: unknown) =>
	new BackupError(
		`The backup is of format ${format}, but this version of Oplink reads format ${FORMAT}: use a newer version`,
	);

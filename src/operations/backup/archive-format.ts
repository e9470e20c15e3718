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

/** Longest line, in characters. Rows are far shorter, as their data came in request bodies. */
export const MAX_LINE = 2 ** 24;

/**
 * Largest uncompressed backup relative to the file. Rows contain ids, which hardly compress, so real backups stay far
 * below. Without a bound a small file could occupy the database for long.
 */
export const mostUnzipped = (zipped: number): number => 2 ** 26 + zipped * 200;

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
export const tooLarge = () =>
	new BackupError(`The backup was refused: its compression ratio is higher than any that Oplink writes`);
export const altered = (where: string) => new BackupError(`The backup is damaged or was altered: ${where} is invalid`);
export const foreignFormat = (format: unknown) =>
	new BackupError(
		`The backup is of format ${format}, but this version of Oplink reads format ${FORMAT}: use a newer version`,
	);

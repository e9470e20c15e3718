/**
 * A backup is gzip'd text, a JSON value per line (docs/backups.md): objects are rows, arrays are marks between them.
 *
 *     ["oplink backup", 1, {program, madeAt, postgres, migrations}]
 *     ["table", "links", ["id", "organization_id", …]]
 *     {"id": …}
 *     ["end of table", "links", {"rows": 1, "sha256": …}]        of the table's rows
 *     ["end of backup", {"tables": 1, "rows": 1, "sha256": …}]    of every line above
 */
export const FORMAT = 1;

export type BackupHead = {program: string; madeAt: string; postgres: string; migrations: string[]};
export type BackupTotals = {tables: number; rows: number; sha256: string};

/** Why a file is no whole, unaltered backup that this program reads. */
export class BackupError extends Error {
	override name = 'BackupError';
}

export const nothingToBackUp = () => new BackupError('There is nothing to back up: the database has no tables yet');
export const notABackup = () => new BackupError('This is no backup of Oplink');
export const truncated = () => new BackupError('The backup is not whole: it breaks off');
export const altered = (where: string) =>
	new BackupError(`The backup is damaged or was altered: ${where} is not what was written`);
export const foreignFormat = (format: unknown) =>
	new BackupError(`The backup is of format ${format}, and this program reads ${FORMAT}: use a newer program`);

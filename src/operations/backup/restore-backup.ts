import {type Db, inTransaction} from '../../platform/db/db.ts';
import {knownMigrations, migrateDown, migrateUp} from '../../platform/db/migrate.ts';
import {execute, sql} from '../../platform/db/sql.ts';
import {recordStore} from '../../visits/click-stores/clickhouse/storage-location.ts';
import {createClickPartitions} from '../../visits/clicks/click-partitions.ts';
import {restartRollups} from '../../visits/reports/rollups/rollup-store.ts';
import {altered, type BackupHead, type BackupTotals, requireKnown} from './archive-format.ts';
import {addForeignKeys, dropForeignKeys, emptyTables, insertRows, listFilled, listTables} from './backup-tables.ts';
import {readArchive} from './read-archive.ts';
import {createMonths, readHead, readTables} from './read-tables.ts';

/**
 * Values that PostgreSQL cannot parse (classes 22, 54) or that violate constraints (23) were altered, and so was
 * invalid JSON.
 */
const readFault = (error: unknown): unknown => {
	const {code} = error as {code?: unknown};
	return error instanceof SyntaxError || (typeof code === 'string' && /^(?:2[23]|54)/.test(code))
		? altered('a row')
		: error;
};

/** The database contains data that a restore would replace. */
class NotEmptyError extends Error {
	override name = 'NotEmptyError';
}

type Options = {
	/** Replace existing data. */
	force: boolean;
	/** Aborts the restore without any change. */
	signal: AbortSignal;
};

export type Restored = BackupTotals & Pick<BackupHead, 'program' | 'madeAt'> & {migrated: string[]};

/** Empty tables in the state of the backup's migrations. */
const prepare = async (trx: Db, head: BackupHead, force: boolean): Promise<void> => {
	const known = await knownMigrations();
	requireKnown(head, known);
	await migrateUp(trx);
	const tables = await listTables(trx);
	const filled = await listFilled(trx, tables);
	if (filled.length > 0 && !force) {
		throw new NotEmptyError(`The database is not empty: it has rows in ${filled.join(', ')}`);
	}

	await emptyTables(trx, tables);
	for (const _ of known.slice(head.migrations.length)) {
		await migrateDown(trx);
	}
};

/** Loads all tables. @returns the backup's trailer. */
const load = async (trx: Db, parts: ReturnType<typeof readArchive>): Promise<BackupTotals> => {
	const partitions = createClickPartitions(trx);
	const newMonths = createMonths();
	return readTables(parts, await listTables(trx), async (table, rows) => {
		for (const month of table.name === 'clicks' ? newMonths(rows) : []) {
			await partitions.ensure(new Date(month));
		}

		await insertRows(trx, table, rows);
	});
};

/**
 * Loads a backup into an empty database, or replaces its data, in one transaction: an invalid backup or an interruption
 * leaves the database unchanged. A backup from before newer migrations is loaded into its own tables and migrated from
 * there.
 * @param lines of the backup, uncompressed. @throws BackupError, NotEmptyError.
 */
export const restoreBackup = (db: Db, lines: AsyncIterable<string>, {force, signal}: Options): Promise<Restored> =>
	inTransaction(db, async (trx) => {
		const parts = readArchive(lines);
		const head = await readHead(parts);
		await prepare(trx, head, force);
		const keys = await dropForeignKeys(trx);
		const totals = await load(trx, parts);
		await addForeignKeys(trx, keys);
		const migrated = await migrateUp(trx);
		// All clicks are in PostgreSQL now, wherever they were.
		await recordStore(trx, 'postgres');
		// The numbers of transactions that rows carry mean nothing here.
		await restartRollups(trx);
		await execute(trx, sql`ANALYZE`);
		signal.throwIfAborted();
		return {...totals, program: head.program, madeAt: head.madeAt, migrated};
	}).catch((error: unknown) => {
		throw readFault(error);
	});

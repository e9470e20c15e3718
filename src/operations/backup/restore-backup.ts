import {type Db, inTransaction} from '../../platform/db/db.ts';
import {migrateDown, migrateUp, migrationStatus} from '../../platform/db/migrate.ts';
import {createClickPartitions} from '../../visits/clicks/click-partitions.ts';
import {notePlace} from '../../visits/clicks/clickhouse/storage-location.ts';
import {restartRollups} from '../../visits/clicks/rollups/rollup-store.ts';
import {altered, BackupError, type BackupHead, type BackupTotals, MAX_MONTHS} from './archive-format.ts';
import {
	addForeignKeys,
	type BackupTable,
	dropForeignKeys,
	emptyTables,
	insertRows,
	listFilled,
	listTables,
} from './backup-tables.ts';
import {type ArchivePart, readArchive} from './read-archive.ts';

const newerBackup = ({program}: BackupHead) =>
	new BackupError(`A newer version (${program}) made the backup, with tables unknown to this version: update first`);
const otherTables = (name: string) =>
	new BackupError(`The backup does not fit: table '${name}' has other columns here, or is missing`);

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
	const {migrations} = head;
	await migrateUp(trx);
	const known = (await migrationStatus(trx)).map(({name}) => name);
	if (migrations.some((name, index) => name !== known[index])) {
		throw newerBackup(head);
	}

	const tables = await listTables(trx);
	const filled = await listFilled(trx, tables);
	if (filled.length > 0 && !force) {
		throw new NotEmptyError(`The database is not empty: it has rows in ${filled.join(', ')}`);
	}

	await emptyTables(trx, tables);
	for (const _ of known.slice(migrations.length)) {
		await migrateDown(trx);
	}
};

/** Our table for the backup's, with the columns in its order. */
const fitting = (tables: ReadonlyMap<string, BackupTable>, {name, columns}: BackupTable): BackupTable => {
	const own = tables.get(name);
	if (own === undefined || own.columns.toSorted().join() !== columns.toSorted().join()) {
		throw otherTables(name);
	}

	return own;
};

/** The first days of the months of `clicks` rows. */
const monthsOf = (rows: readonly string[]): string[] => {
	const months = rows.map((row) => {
		const {occurred_at: at} = JSON.parse(row) as {occurred_at?: unknown};
		const [month] = (typeof at === 'string' && /^\d{4}-(?:0[1-9]|1[0-2])(?=-)/.exec(at)) || [];
		if (month === undefined) {
			throw altered('a row');
		}

		return month;
	});
	return [...new Set(months)].map((month) => `${month}-01`);
};

type Parts = AsyncIterator<ArchivePart, undefined>;

/** Loads all tables. @returns the backup's trailer. */
const load = async (trx: Db, parts: Parts): Promise<BackupTotals> => {
	const tables = new Map((await listTables(trx)).map((table) => [table.name, table]));
	const missing = new Set(tables.keys());
	const partitions = createClickPartitions(trx);
	const months = new Set<string>();
	let table: BackupTable | null = null;
	for (let next = await parts.next(); !next.done; next = await parts.next()) {
		const part = next.value;
		if (part.kind === 'table') {
			table = fitting(tables, part);
			if (!missing.delete(table.name)) {
				throw altered(`the table ${table.name}`);
			}
		} else if (part.kind === 'rows' && table !== null) {
			for (const month of table.name === 'clicks' ? monthsOf(part.rows) : []) {
				months.add(month);
				if (months.size > MAX_MONTHS) {
					throw altered('the time of clicks');
				}

				await partitions.ensure(new Date(month));
			}

			await insertRows(trx, table, part.rows);
		} else if (part.kind === 'end') {
			const [lost] = missing;
			if (lost !== undefined) {
				throw otherTables(lost);
			}

			// Also verifies what follows the end.
			await parts.next();
			return part.totals;
		}
	}

	throw altered('its end');
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
		const first = await parts.next();
		if (first.done || first.value.kind !== 'head') {
			throw altered('its beginning');
		}

		const {head} = first.value;
		await prepare(trx, head, force);
		const keys = await dropForeignKeys(trx);
		const totals = await load(trx, parts);
		await addForeignKeys(trx, keys);
		const migrated = await migrateUp(trx);
		// All clicks are in PostgreSQL now, wherever they were.
		await notePlace(trx, 'postgres');
		// The numbers of transactions that rows carry mean nothing here.
		await restartRollups(trx);
		await trx.raw('ANALYZE');
		signal.throwIfAborted();
		return {...totals, program: head.program, madeAt: head.madeAt, migrated};
	}).catch((error: unknown) => {
		throw readFault(error);
	});

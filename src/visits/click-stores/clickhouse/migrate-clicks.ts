import {DAY_MS} from '../../../platform/clock.ts';
import {copyIn, copyOut} from '../../../platform/db/copy.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {compile, execute, identifier, joined, literal as literalOf, run, sql} from '../../../platform/db/sql.ts';
import {createClickPartitions} from '../../clicks/click-partitions.ts';
import {fullClicks} from '../../clicks/click-sql.ts';
import {countedColumns} from '../../clicks/dimensions.ts';
import {rollUp} from '../../reports/rollups/roll-up.ts';
import {readState} from '../../reports/rollups/rollup-store.ts';
import {NOTHING_ROLLED} from '../../reports/rollups/rows-beside-rollups.ts';
import {listPartitions} from '../drop-old-clicks.ts';
import {rowsAsText, textColumns} from './backup-rows.ts';
import {applyChanges} from './changes.ts';
import {createClickTable, intoClicks, NO_BATCH} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {listMonths} from './drop-old-months.ts';
import {areClicksInClickHouse, recordStore} from './storage-location.ts';

export type Place = 'clickhouse' | 'postgres';

/** The reason why clicks cannot be moved now. */
class MigrationError extends Error {
	override name = 'MigrationError';
}

const countIn = async (clickHouse: ClickHouse): Promise<number> => {
	const [row] = await clickHouse.select<{clicks: number}>('SELECT count() AS clicks FROM clicks FINAL');
	return row?.clicks ?? 0;
};

const countStored = async (trx: Db): Promise<number> => {
	const [row] = await run<{clicks: string}>(trx, sql`SELECT count(*) AS clicks FROM clicks`);
	return Number(row?.clicks);
};

const requireCount = (moved: number, expected: number): void => {
	if (moved !== expected) {
		throw new MigrationError(`${moved} of ${expected} clicks arrived, perhaps because a server is still running`);
	}
};

/** A month's rows as ClickHouse takes them: of version 1, which nothing that still comes from a journal replaces. */
const rowsOf = (
	partition: string,
) => sql`SELECT organization_id, CAST(floor(extract(epoch FROM occurred_at) / 86400) AS integer), link_id,
		CAST(extract(epoch FROM occurred_at) * 1000000 AS bigint), id, 1, ${literalOf(NO_BATCH)}, context_id, campaign_id,
		CAST(bot_class IS NULL AS integer), ${joined(countedColumns.map(identifier))}
	FROM ${fullClicks(partition)} AS clicks`;

/** Counts of rows that are not rolled up would be lost. */
const requireRolledUp = async (trx: Db): Promise<void> => {
	const state = await readState(trx);
	const left = await execute(
		trx,
		sql`SELECT 1 FROM clicks
		WHERE NOT pg_visible_in_snapshot(writer, ${state?.rolled ?? NOTHING_ROLLED}::pg_snapshot) LIMIT 1`,
	);
	if (state?.backfill !== null || !state.isOfThisCluster || left > 0) {
		throw new MigrationError('Some clicks are not rolled up yet, perhaps because a server is still running');
	}
};

const toClickHouse = async (db: Db, clickHouse: ClickHouse): Promise<number> => {
	await createClickTable(clickHouse);
	// Removes the rows of an interrupted attempt or an earlier installation.
	await clickHouse.run('TRUNCATE TABLE clicks');
	await rollUp(db);
	return inTransaction(db, async (trx) => {
		await execute(trx, sql`LOCK TABLE clicks`);
		const stored = await countStored(trx);
		await requireRolledUp(trx);
		const partitions = await listPartitions(trx);
		for (const {partition} of partitions) {
			const copied = copyOut(trx, `COPY (${compile(rowsOf(partition)).text}) TO STDOUT`);
			await clickHouse.insert(intoClicks, copied);
		}

		const moved = await countIn(clickHouse);
		requireCount(moved, stored);
		for (const {partition} of partitions) {
			await execute(trx, sql`DROP TABLE ${identifier(partition)}`);
		}

		await recordStore(trx, 'clickhouse');
		return moved;
	});
};

const requireDrained = async (db: Db): Promise<void> => {
	const left = await execute(
		db,
		sql`SELECT 1 FROM click_journals AS one LEFT JOIN click_journals AS rows ON rows.id = one.id AND rows.sink = 'clickHouse'
		WHERE one.sink = 'postgres'
			AND (coalesce(rows.segment, 0), coalesce(rows.position, 0)) < (one.segment, one.position) LIMIT 1`,
	);
	if (left > 0) {
		throw new MigrationError(
			'Raw clicks still wait in the journal: start the server with CLICKS_URL, and stop it when /admin/status says that none wait',
		);
	}
};

const toPostgres = async (db: Db, clickHouse: ClickHouse): Promise<number> => {
	await requireDrained(db);
	await applyChanges(db, clickHouse);
	// Rows that come back are marked as rolled up.
	await rollUp(db);
	const expected = await countIn(clickHouse);
	const moved = await inTransaction(db, async (trx) => {
		const partitions = createClickPartitions(trx);
		for (const {start, end} of await listMonths(clickHouse)) {
			await partitions.ensure(start);
			// In the order of time: clicks of the same time are near each other on the disk.
			for (let at = start; at < end; at = new Date(at.getTime() + DAY_MS)) {
				const day = `WHERE day = ${literal(at.getTime() / DAY_MS)} ORDER BY occurred_at`;
				for await (const lines of rowsAsText(clickHouse, day)) {
					await copyIn(trx, `COPY clicks (${textColumns}) FROM STDIN`, lines);
				}
			}
		}

		requireCount(await countStored(trx), expected);
		await recordStore(trx, 'postgres');
		return expected;
	});
	await clickHouse.run('TRUNCATE TABLE clicks');
	await execute(db, sql`VACUUM (ANALYZE) clicks`);
	return moved;
};

/**
 * Moves the rows of all clicks, completely or not at all. No server may run meanwhile.
 * @returns how many; null if they are there already. @throws MigrationError; 503 if ClickHouse is unavailable.
 */
export const migrateClicks = async (db: Db, clickHouse: ClickHouse, place: Place): Promise<number | null> => {
	if ((await areClicksInClickHouse(db)) === (place === 'clickhouse')) {
		return null;
	}

	return place === 'clickhouse' ? toClickHouse(db, clickHouse) : toPostgres(db, clickHouse);
};

import {DAY_MS} from '../../platform/clock.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {execute, identifier, run, type Sql, sql} from '../../platform/db/sql.ts';
import {fullClicks} from '../clicks/click-sql.ts';
import type {KeepReason} from '../reports/click-store.ts';
import {keepHours, keepLinkVisits, quarterOf} from '../reports/rollups/keep-counts.ts';
import {type RollupState, readState, takeRollupLock} from '../reports/rollups/rollup-store.ts';

const LOCK_NOT_AVAILABLE = '55P03';

const UNCOUNTED = new Error('Some clicks are not rolled up');

export type Month = {partition: string; start: Date; end: Date};

/** The month (UTC) of each partition whose name ends with one, such as 202603 or 2026_03. */
export const monthsOf = (rows: ReadonlyArray<{partition: string}>): Month[] =>
	rows.flatMap(({partition}) => {
		const [, year, month] = /(\d{4})_?(\d\d)$/.exec(partition) ?? [];
		const [start, end] = [Number(month) - 1, Number(month)].map((index) => new Date(Date.UTC(Number(year), index)));
		return month === undefined || start === undefined || end === undefined ? [] : [{partition, start, end}];
	});

/** The partitions of the table, oldest first. */
export const listPartitions = (db: Db): Promise<Array<{partition: string}>> =>
	run(
		db,
		sql`SELECT relname AS partition FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = 'clicks'::regclass ORDER BY relname`,
	);

/**
 * Keeps the clicks of a month's days by the hour, for reports in time zones that cut these days in two.
 * @param hoursOf people's clicks of a day, as `keepHours` takes them; null: they are in the table.
 * @returns the state of the rollups; null if some clicks may not be in them.
 */
export const keepCounts = async (
	trx: Db,
	{start, end}: Month,
	hoursOf: ((day: {organizationId: string; day: Date}) => Promise<Sql>) | null,
): Promise<RollupState | null> => {
	const state = (await takeRollupLock(trx)) ? await readState(trx) : null;
	if (state === null || !state.isOfThisCluster || state.backfill !== null || state.hasTallies) {
		return null;
	}

	const days: Array<{organizationId: string; day: Date}> = await trx('rollup_days')
		.where('start', '>=', start)
		.where('start', '<', end)
		.where({has_hours: false})
		.select({organizationId: 'organization_id', day: 'start'});
	for (const day of days) {
		await keepHours(trx, day, state.rolled, hoursOf && (await hoursOf(day)));
	}

	return state;
};

/**
 * Drops the clicks of each month whose last day is older than `days` (CLICK_RETENTION_DAYS). Reports do not change,
 * because all of them are in the rollups.
 * @param months oldest first. @param drop returns the reason why a month's clicks are kept; null: they are dropped.
 */
export const dropMonths = async (
	db: Db,
	{now, days}: {now: Date; days: number},
	months: Month[],
	drop: (month: Month) => Promise<KeepReason | null>,
): Promise<{dropped: string[]; left: KeepReason | null}> => {
	const before = new Date(now.getTime() - days * DAY_MS);
	const dropped: string[] = [];
	for (const month of months.filter(({end}) => end <= before)) {
		const left = await drop(month);
		if (left !== null) {
			return {dropped, left};
		}

		for (const words of ['click_contexts', 'click_campaigns']) {
			await db(words).where('month', '<=', month.start.toISOString().slice(0, 10)).delete();
		}

		dropped.push(month.partition);
	}

	return {dropped, left: null};
};

/** A report of some links then names the start of its breakdowns. */
export const noteDropped = async (trx: Db, {end}: Month): Promise<void> => {
	await execute(trx, sql`UPDATE rollups SET clicks_from = greatest(clicks_from, ${end})`);
};

const dropPartition = async (trx: Db, month: Month): Promise<KeepReason | null> => {
	const state = await keepCounts(trx, month, null);
	if (state === null) {
		return 'uncounted';
	}

	// Before the lock, for which everybody's clicks wait.
	await keepLinkVisits(trx, month.start, [
		sql`SELECT organization_id, link_id, ${quarterOf(sql`occurred_at`, sql`${month.start}::timestamptz`)} AS quarter,
			count(*) FILTER (WHERE bot_class IS NULL) AS clicks, count(bot_class) AS crawler_views
			FROM ${fullClicks(month.partition)} AS clicks
			WHERE pg_visible_in_snapshot(writer, ${state.rolled}::pg_snapshot) GROUP BY 1, 2, 3`,
	]);
	// Short, because clicks queue behind a session that waits for the table.
	await execute(trx, sql`SET LOCAL lock_timeout = '2s'`);
	await execute(trx, sql`LOCK TABLE clicks`);
	const partition = identifier(month.partition);
	const left = await execute(
		trx,
		sql`SELECT 1 FROM ${partition} WHERE NOT pg_visible_in_snapshot(writer, ${state.rolled}::pg_snapshot) LIMIT 1`,
	);
	if (left > 0) {
		// The kept counts must not stay: these clicks will be counted once more.
		throw UNCOUNTED;
	}

	await noteDropped(trx, month);
	await execute(trx, sql`DROP TABLE ${partition}`);
	return null;
};

/** Drops old partitions of the table. */
export const dropOldClicks = async (db: Db, age: {now: Date; days: number}) =>
	dropMonths(db, age, monthsOf(await listPartitions(db)), (month) =>
		inTransaction(db, (trx) => dropPartition(trx, month)).catch((error: {code?: string}) => {
			if (error === UNCOUNTED) {
				return 'uncounted' as const;
			}

			if (error.code === LOCK_NOT_AVAILABLE) {
				return 'in_use' as const;
			}

			throw error;
		}),
	);

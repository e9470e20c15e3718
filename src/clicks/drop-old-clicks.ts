import {DAY_MS} from '../clock.ts';
import {type Db, inTransaction} from '../db/db.ts';
import type {Left} from './click-store.ts';
import {keepHours} from './keep-hours.ts';
import {readState, takeRollupLock} from './rollup-store.ts';

/** Clicks queue behind a session that waits for the table, so this timeout is short. */
const LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';

type Month = {partition: string; start: Date; end: Date};

/** The partitions whose whole month is older than `before`, oldest first. */
const findOldMonths = async (db: Db, before: Date): Promise<Month[]> => {
	const {rows} = await db.raw<{rows: Array<{partition: string}>}>(
		`SELECT relname AS partition FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = 'clicks'::regclass ORDER BY relname`,
	);
	return rows.flatMap(({partition}) => {
		const [, year, month] = /^clicks_(\d{4})_(\d\d)$/.exec(partition) ?? [];
		const [start, end] = [Number(month) - 1, Number(month)].map((index) => new Date(Date.UTC(Number(year), index)));
		return start !== undefined && end !== undefined && end <= before ? [{partition, start, end}] : [];
	});
};

/** Reports in time zones that cut these days in two read them from the clicks, which is now impossible. */
const keepHoursOf = async (trx: Db, {start, end}: Month, rolled: string): Promise<void> => {
	const days: Array<{organizationId: string; day: Date}> = await trx('rollup_days')
		.where('start', '>=', start)
		.where('start', '<', end)
		.where({has_hours: false})
		.select({organizationId: 'organization_id', day: 'start'});
	for (const day of days) {
		await keepHours(trx, day, rolled);
	}
};

/** @returns whether the month was dropped. */
const dropCounted = async (trx: Db, month: Month): Promise<boolean> => {
	const state = (await takeRollupLock(trx)) ? await readState(trx) : null;
	if (state === null || !state.isOfThisCluster || state.backfill !== null) {
		return false;
	}

	await keepHoursOf(trx, month, state.rolled);
	await trx.raw(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
	await trx.raw('LOCK TABLE clicks');
	const {rows} = await trx.raw<{rows: unknown[]}>(
		'SELECT 1 FROM ?? WHERE NOT pg_visible_in_snapshot(writer, CAST(? AS pg_snapshot)) LIMIT 1',
		[month.partition, state.rolled],
	);
	if (rows.length > 0) {
		return false;
	}

	await trx.raw('DROP TABLE ??', [month.partition]);
	await trx('click_contexts').where('month', '<=', month.start.toISOString().slice(0, 10)).delete();
	return true;
};

/** @returns null if the month was dropped. */
const dropMonth = async (db: Db, month: Month): Promise<Left | null> => {
	try {
		return (await inTransaction(db, (trx) => dropCounted(trx, month))) ? null : 'uncounted';
	} catch (error) {
		if ((error as {code?: string}).code === LOCK_NOT_AVAILABLE) {
			return 'in_use';
		}

		throw error;
	}
};

/**
 * Drops the clicks of each month whose last day is older than `days` (CLICK_RETENTION_DAYS). Reports do not change,
 * because all of them are in the rollups.
 * @returns the dropped partitions, oldest first, and why the next one is `left`; null if none is.
 */
export const dropOldClicks = async (
	db: Db,
	{now, days}: {now: Date; days: number},
): Promise<{dropped: string[]; left: Left | null}> => {
	const dropped: string[] = [];
	for (const month of await findOldMonths(db, new Date(now.getTime() - days * DAY_MS))) {
		const left = await dropMonth(db, month);
		if (left !== null) {
			return {dropped, left};
		}

		dropped.push(month.partition);
	}

	return {dropped, left: null};
};

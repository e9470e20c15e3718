import {DAY_MS} from '../../clock.ts';
import {type Db, inTransaction} from '../../db/db.ts';
import type {Left} from '../click-store.ts';
import {keepHours} from '../keep-hours.ts';
import {readState, takeRollupLock} from '../rollup-store.ts';
import type {Rows} from '../rows.ts';
import {occurredWithin} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';

type Month = {partition: string; start: Date; end: Date};

/** The months that ClickHouse has clicks of, oldest first; `partition` such as 202603. */
export const listMonths = async (clickHouse: ClickHouse): Promise<Month[]> => {
	const rows = await clickHouse.select<{partition: string}>(
		"SELECT DISTINCT partition FROM system.parts WHERE active AND database = currentDatabase() AND table = 'clicks' ORDER BY partition",
	);
	return rows.flatMap(({partition}) => {
		const [, year, month] = /^(\d{4})(\d\d)$/.exec(partition) ?? [];
		const [start, end] = [Number(month) - 1, Number(month)].map((index) => new Date(Date.UTC(Number(year), index)));
		return start !== undefined && end !== undefined && month !== undefined ? [{partition, start, end}] : [];
	});
};

/** People's clicks of a day by hour, dimension and key, for its rollups. */
const hoursOf = async (
	clickHouse: ClickHouse,
	{organizationId, day}: {organizationId: string; day: Date},
): Promise<Rows> => {
	const rows = await clickHouse.select(
		`SELECT hour, dimension, key, count() AS count FROM (
			SELECT intDiv(occurred_at, 3600000000) AS hour, platform, country, channel, referrer_host, toString(link_id) AS link
			FROM clicks FINAL WHERE organization_id = ${literal(organizationId)} AND 
				${occurredWithin(day, new Date(day.getTime() + DAY_MS))} AND is_person = 1
		) ARRAY JOIN ['platform', 'country', 'channel', 'referrer', 'link'] AS dimension,
			[platform, country, channel, referrer_host, link] AS key
		GROUP BY hour, dimension, key`,
	);
	return {
		sql: `SELECT to_timestamp(hour * 3600) AS hour, dimension, key, count
			FROM json_to_recordset(CAST(:stored AS json)) AS stored (hour bigint, dimension text, key text, count bigint)`,
		bindings: {stored: JSON.stringify(rows)},
	};
};

/** Keeps what only the clicks of the month say: breakdowns by the hour. @returns whether all of them are rolled up. */
const keepCounts = (db: Db, clickHouse: ClickHouse, {start, end}: Month): Promise<boolean> =>
	inTransaction(db, async (trx) => {
		const state = (await takeRollupLock(trx)) ? await readState(trx) : null;
		if (state === null || !state.isOfThisCluster || state.backfill !== null || state.hasTallies) {
			return false;
		}

		const days: Array<{organizationId: string; day: Date}> = await trx('rollup_days')
			.where('start', '>=', start)
			.where('start', '<', end)
			.where({has_hours: false})
			.select({organizationId: 'organization_id', day: 'start'});
		for (const day of days) {
			await keepHours(trx, day, state.rolled, await hoursOf(clickHouse, day));
		}

		return true;
	});

/** Drops the clicks of each month whose last day is older than `days`, and forgets batches that no stream asks for. */
export const dropMonths = async (
	db: Db,
	clickHouse: ClickHouse,
	{now, days}: {now: Date; days: number},
): Promise<{dropped: string[]; left: Left | null}> => {
	await db('click_batches').whereRaw("stored_at < now() - interval '1 day'").delete();
	const before = new Date(now.getTime() - days * DAY_MS);
	const dropped: string[] = [];
	for (const month of await listMonths(clickHouse)) {
		if (month.end <= before) {
			if (!(await keepCounts(db, clickHouse, month))) {
				return {dropped, left: 'uncounted'};
			}

			await clickHouse.run(`ALTER TABLE clicks DROP PARTITION ${literal(Number(month.partition))}`);
			await db('click_contexts').where('month', '<=', month.start.toISOString().slice(0, 10)).delete();
			dropped.push(month.partition);
		}
	}

	return {dropped, left: null};
};

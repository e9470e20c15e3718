import {DAY_MS} from '../../clock.ts';
import {type Db, inTransaction} from '../../db/db.ts';
import type {Rows} from '../click-context.ts';
import {dropMonths, keepCounts, type Month, monthsOf} from '../drop-old-clicks.ts';
import {occurredWithin, selectDimensions} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';

/** The months that ClickHouse has clicks of, oldest first; `partition` such as 202603. */
export const listMonths = async (clickHouse: ClickHouse): Promise<Month[]> =>
	monthsOf(
		await clickHouse.select<{partition: string}>(
			"SELECT DISTINCT partition FROM system.parts WHERE active AND database = currentDatabase() AND table = 'clicks' ORDER BY partition",
		),
	);

/** People's clicks of a day by hour, dimension and key, for its rollups. */
const hoursOf = async (
	clickHouse: ClickHouse,
	{organizationId, day}: {organizationId: string; day: Date},
): Promise<Rows> => {
	const condition = `organization_id = ${literal(organizationId)} AND ${occurredWithin(day, new Date(day.getTime() + DAY_MS))}`;
	const rows = await clickHouse.select(selectDimensions(condition, true));
	return {
		sql: `SELECT to_timestamp(hour * 3600) AS hour, dimension, key, count
			FROM json_to_recordset(CAST(:stored AS json)) AS stored (hour bigint, dimension text, key text, count bigint)`,
		bindings: {stored: JSON.stringify(rows)},
	};
};

/** Drops the clicks of old months, and forgets batches that no stream asks for. */
export const dropOldMonths = async (db: Db, clickHouse: ClickHouse, age: {now: Date; days: number}) => {
	await db('click_batches').whereRaw("stored_at < now() - interval '1 day'").delete();
	return dropMonths(db, age, await listMonths(clickHouse), async (month) => {
		const state = await inTransaction(db, (trx) => keepCounts(trx, month, (day) => hoursOf(clickHouse, day)));
		if (state === null) {
			return 'uncounted';
		}

		await clickHouse.run(`ALTER TABLE clicks DROP PARTITION ${literal(Number(month.partition))}`);
		return null;
	});
};

import {DAY_MS} from '../../../platform/clock.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {execute, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {clickDimensions} from '../../clicks/dimensions.ts';
import {EXPORT_CURSOR_DAYS} from '../../reports/click-store.ts';
import {keepLinkVisits} from '../../reports/rollups/keep-counts.ts';
import {dropMonths, keepCounts, type Month, monthsOf, noteDropped} from '../drop-old-clicks.ts';
import {occurredWithin, QUARTER, selectDimensions} from './click-table.ts';
import {type ClickHouse, literal, microseconds} from './clickhouse.ts';

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
): Promise<Sql> => {
	const condition = `organization_id = ${literal(organizationId)} AND ${occurredWithin(day, new Date(day.getTime() + DAY_MS))}`;
	const rows = await clickHouse.select(selectDimensions(condition, clickDimensions, true));
	return sql`SELECT to_timestamp(hour * 3600) AS hour, dimension, key, count
		FROM json_to_recordset(${JSON.stringify(rows)}::json) AS stored (hour bigint, dimension text, key text, count bigint)`;
};

/** Maximum clicks that one answer of ClickHouse counts. */
const PART = 200_000;

/** The visits of links in a month, by the quarter of an hour. */
async function* visitsOf(trx: Db, clickHouse: ClickHouse, {start, end}: Month): AsyncGenerator<Sql> {
	const rows = await run<{organizationId: string; visits: number}>(
		trx,
		sql`SELECT organization_id AS "organizationId", CAST(sum(clicks + crawler_views) AS float8) AS visits FROM rollup_quarters
		WHERE start >= ${start} AND start < ${end} GROUP BY 1`,
	);
	for (const {organizationId, visits} of rows) {
		const parts = Math.ceil(visits / PART);
		for (let part = 0; part < parts; part += 1) {
			const stored = await clickHouse.select(
				`SELECT toString(link_id) AS link_id, intDiv(occurred_at - ${microseconds(start)}, ${QUARTER}) AS quarter,
					sum(is_person) AS clicks, count() - sum(is_person) AS crawler_views
				FROM clicks FINAL WHERE organization_id = ${literal(organizationId)} AND ${occurredWithin(start, end)}
					AND cityHash64(toString(link_id)) % ${literal(parts)} = ${literal(part)} GROUP BY link_id, quarter`,
			);
			yield sql`SELECT ${organizationId}::uuid AS organization_id, stored.*
				FROM json_to_recordset(${JSON.stringify(stored)}::json)
					AS stored (link_id uuid, quarter smallint, clicks integer, crawler_views integer)`;
		}
	}
}

/**
 * Keeps the counts of a month that is about to be dropped, for reports. If ClickHouse's answer to the last drop was lost, the
 * month is marked as being dropped, and its counts are kept already.
 */
const keepMonth = async (trx: Db, clickHouse: ClickHouse, month: Month): Promise<boolean> => {
	if ((await keepCounts(trx, month, (day) => hoursOf(clickHouse, day))) === null) {
		return false;
	}

	const known = await trx('rollups').where({dropping: month.start}).update({dropping: month.start});
	if (known === 0) {
		await keepLinkVisits(trx, month.start, visitsOf(trx, clickHouse, month));
		await noteDropped(trx, month);
		await trx('rollups').update({dropping: month.start});
	}

	return true;
};

/** Batches are known as long as a cursor of an export is valid, and a day more (contract/reports 8). */
const BATCH_DAYS = EXPORT_CURSOR_DAYS + 1;

/** Drops the clicks of old months, and forgets batches that no cursor may refer to. */
export const dropOldMonths = async (db: Db, clickHouse: ClickHouse, age: {now: Date; days: number}) => {
	await execute(db, sql`DELETE FROM click_batches WHERE stored_at < now() - interval '1 day' * ${BATCH_DAYS}`);
	const months = await listMonths(clickHouse);
	// The last drop succeeded although its answer was lost: later clicks of that month are new.
	await db('rollups')
		.whereNotIn(
			'dropping',
			months.map(({start}) => start),
		)
		.update({dropping: null});
	return dropMonths(db, age, months, async (month) => {
		if (!(await inTransaction(db, (trx) => keepMonth(trx, clickHouse, month)))) {
			return 'uncounted';
		}

		await clickHouse.run(`ALTER TABLE clicks DROP PARTITION ${literal(Number(month.partition))}`);
		await db('rollups').update({dropping: null});
		return null;
	});
};

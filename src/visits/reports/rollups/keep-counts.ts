import type {Db} from '../../../platform/db/db.ts';
import type {Snapshot} from '../../../platform/db/new-rows.ts';
import {execute, identifier, joined, type Sql, sql} from '../../../platform/db/sql.ts';
import {clicksInFull} from '../../clicks/click-sql.ts';
import type {Range} from '../stats/stats-bounds.ts';
import {cappedKey, countDimensions} from './count-dimensions.ts';
import {CLICK_STEP, hoursOf} from './rollup-store.ts';

/** The counts of a link by the quarter of an hour, in the order of the table's columns. */
const counts = ['clicks', 'crawler_views', 'events'].map(identifier);

const arrays = [identifier('quarters'), ...counts];

/** The quarter of an hour since the month began. */
export const quarterOf = (at: Sql, month: Sql): Sql =>
	sql`CAST(floor(extract(epoch FROM ${at} - ${month}) / 900) AS smallint)`;

/**
 * Adds to the counts of links (docs/internals.md), in the same order everywhere, to avoid deadlocks.
 * @param counted a SELECT of `organization_id`, `link_id`, `month`, `quarter`, and of the counts, which it groups by them.
 */
export const keepLinkCounts = (counted: Sql): Sql => sql`
	INSERT INTO rollup_links (organization_id, link_id, month, ${joined(arrays)})
	SELECT organization_id, link_id, month, array_agg(quarter),
		${joined(counts.map((name) => sql`array_agg(CAST(${name} AS integer))`))}
	FROM (${counted}) AS counted WHERE organization_id IN (SELECT id FROM organizations) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
	ON CONFLICT (organization_id, link_id, month) DO UPDATE
	SET ${joined(arrays.map((column) => sql`${column} = rollup_links.${column} || excluded.${column}`))}`;

/**
 * Keeps the visits of links in a month whose clicks are about to be dropped: a report of some links has nothing else.
 * @param visits SELECTs of `organization_id`, `link_id`, `quarter`, `clicks` and `crawler_views`.
 */
export const keepLinkVisits = async (
	trx: Db,
	month: Date,
	visits: AsyncIterable<Sql> | Iterable<Sql>,
): Promise<void> => {
	for await (const some of visits) {
		await execute(
			trx,
			keepLinkCounts(sql`SELECT *, ${month}::timestamptz AS month, 0 AS events FROM (${some}) AS visits`),
		);
	}
};

/** The kept counts of the links of a report, as rows of its series. */
export const keptLinkCounts = (organizationId: string, linkIds: readonly string[], {from, to}: Range): Sql =>
	sql`SELECT at, clicks, crawler_views, 0 AS matches, events FROM (
		SELECT month + quarter * interval '15 minutes' AS at, counted.* FROM rollup_links,
			unnest(${joined(arrays.map((column) => sql`rollup_links.${column}`))}) AS counted (quarter, ${joined(counts)})
		WHERE organization_id = ${organizationId} AND link_id = ANY(${linkIds}::uuid[])
			AND month > ${from}::timestamptz - interval '31 days' AND month < ${to}
	) AS kept WHERE at >= ${from} AND at < ${to}`;

/**
 * Also keeps the breakdowns of a day by the hour, from its rows that are rolled up. Each of them is stored by now, most
 * often in this transaction: a join would be planned by statistics that do not know them, and compare each with each.
 * @param clicked a SELECT of hour, dimension, key and count of clicks elsewhere; null: those of the table.
 */
export const keepHours = async (
	trx: Db,
	{organizationId, day}: {organizationId: string; day: Date},
	rolled: Snapshot,
	clicked: Sql | null = null,
): Promise<void> => {
	const rolledUp = (time: Sql): Sql => sql`organization_id = ${organizationId} AND ${time} >= ${day}
		AND ${time} < ${day}::timestamptz + interval '1 day' AND pg_visible_in_snapshot(writer, ${rolled}::pg_snapshot)`;
	const people = sql`(SELECT *, date_trunc('hour', occurred_at, 'UTC') AS hour FROM ${clicksInFull} AS clicks
		WHERE ${rolledUp(CLICK_STEP)} AND bot_class IS NULL) AS people`;
	await execute(
		trx,
		sql`WITH kept AS (
			UPDATE rollup_days SET has_hours = true WHERE organization_id = ${organizationId} AND start = ${day}
		), capped AS (
			SELECT hour, dimension, ${cappedKey(sql`counted`)} AS key, count
			FROM (SELECT *, ${organizationId}::uuid AS organization_id, ${day}::timestamptz AS day FROM (
			${clicked ?? countDimensions(people, {by: ['hour']})}
			UNION ALL SELECT date_trunc('hour', at, 'UTC'), 'matchMethod', method, count(*)
			FROM match_attempts WHERE ${rolledUp(sql`at`)} AND matched GROUP BY 1, 3
		) AS by_hour) AS counted
		), summed AS (
			SELECT dimension, key, sum(count) AS count, ${hoursOf(sql`${day}::timestamptz`)} AS hours
			FROM capped GROUP BY dimension, key
		)
		INSERT INTO rollup_breakdowns (organization_id, span, start, dimension, key, count, hours)
		SELECT ${organizationId}::uuid, 'day', ${day}::timestamptz, dimension, key, count, hours FROM summed
		ON CONFLICT (organization_id, span, dimension, start, coalesce(key, ''), (key IS NULL))
		DO UPDATE SET hours = excluded.hours`,
	);
};

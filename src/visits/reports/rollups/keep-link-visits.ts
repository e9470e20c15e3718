import type {Db} from '../../../platform/db/db.ts';
import {execute, identifier, joined, type Sql, sql} from '../../../platform/db/sql.ts';
import type {Range} from '../stats/stats-bounds.ts';

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
export const keptOfLinks = (organizationId: string, linkIds: readonly string[], {from, to}: Range): Sql =>
	sql`SELECT at, clicks, crawler_views, 0 AS matches, events FROM (
		SELECT month + quarter * interval '15 minutes' AS at, counted.* FROM rollup_links,
			unnest(${joined(arrays.map((column) => sql`rollup_links.${column}`))}) AS counted (quarter, ${joined(counts)})
		WHERE organization_id = ${organizationId} AND link_id = ANY(${linkIds}::uuid[])
			AND month > ${from}::timestamptz - interval '31 days' AND month < ${to}
	) AS kept WHERE at >= ${from} AND at < ${to}`;

import {HOUR_MS} from '../../../platform/clock.ts';
import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {identifier, joined, literal, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {type DimensionName, storedDimensions} from '../../clicks/dimensions.ts';
import type {ClickReader, CountedRows} from '../click-store.ts';
import {OTHER} from '../rollups/count-dimensions.ts';
import {keptLinkCounts} from '../rollups/keep-counts.ts';
import {NOTHING_ROLLED, postgresReader, rowsBesideRollups} from '../rollups/rows-beside-rollups.ts';
import type {Coverage} from './begin-report.ts';
import {type Cover, floorTo} from './begin-report.ts';
import {labelledLinks} from './chosen-links.ts';
import type {Interval, Range, Scope, StatsQuery} from './stats-bounds.ts';

export type Counts = {clicks: number; crawlerViews: number; matches: number; events: number};
export type DimensionCount = {dimension: string; key: string | null; count: number};
/** The number of listed values of a dimension, and the dimensions of which the rest is counted as `other`. */
export type ListLimits = {top: number; folded: readonly DimensionName[]};

/** Counts per hour, day or month of the timezone; an empty one is omitted. `start`: milliseconds. */
const seriesOf = (
	clicked: Sql,
	counted: CountedRows,
	{interval, timezone}: {interval: Interval; timezone: string},
): Sql => {
	const {scope, range, cover} = counted;
	// Hours as `readBounds` steps them: Lord Howe changes its clocks by half of one.
	const start =
		interval === 'hour'
			? sql`date_bin('1 hour', at, date_trunc('hour', ${range.from}::timestamptz, ${timezone}))`
			: sql`date_trunc(${interval}, at, ${timezone})`;
	const rolled =
		scope.linkIds === null
			? sql`SELECT start AS at, clicks, crawler_views, matches, events FROM rollup_quarters
				WHERE organization_id = ${scope.organizationId} AND start >= ${cover.from} AND start < ${cover.to}`
			: keptLinkCounts(scope.organizationId, scope.linkIds, range);
	const matched = {table: 'match_attempts', time: 'at', columns: sql`at, 0, 0, 1, 0`, condition: sql`matched`} as const;
	const happened = {table: 'events', time: 'occurred_at', columns: sql`occurred_at, 0, 0, 0, 1`} as const;
	return sql`SELECT CAST(extract(epoch FROM start) * 1000 AS float8) AS start, clicks, "crawlerViews", matches, events FROM (
			SELECT ${start} AS start, CAST(sum(clicks) AS float8) AS clicks,
				CAST(sum(crawler_views) AS float8) AS "crawlerViews", CAST(sum(matches) AS float8) AS matches,
				CAST(sum(events) AS float8) AS events
			FROM (
				${rolled}
				UNION ALL SELECT at, clicks, crawler_views, 0, 0 FROM (${clicked}) AS clicked
				UNION ALL ${rowsBesideRollups(matched, counted)}
				UNION ALL ${rowsBesideRollups(happened, counted)}
			) AS counted GROUP BY 1
		) AS parts`;
};

/**
 * The counts of the rollups that cover a range, each SELECT followed by UNION ALL. Hours are parts of a day's row, and
 * the range of them is within a day.
 */
const rolledBreakdowns = (
	{pieces}: Cover,
	organizationId: string,
	by: readonly DimensionName[],
	condition = sql`true`,
): Sql =>
	joined(
		pieces.map(({span, from, to}) => {
			const first = from.getUTCHours() + 1;
			const last = from.getUTCHours() + (to.getTime() - from.getTime()) / HOUR_MS;
			const [count, stored, start] =
				span === 'hour'
					? [
							sql`(SELECT sum(one) FROM unnest(hours[${first}::int:${last}::int]) AS one)`,
							'day',
							new Date(floorTo('day', from.getTime())),
						]
					: [identifier('count'), span, from];
			return sql`SELECT dimension, key, ${count} AS count FROM rollup_breakdowns
				WHERE organization_id = ${organizationId} AND span = ${literal(stored)} AND dimension = ANY(${by})
					AND start >= ${start} AND start < ${to} AND ${condition}
				UNION ALL`;
		}),
		' ',
	);

/** The counts of `counted` by the tags of its links; null for links without any. */
const countedByTag = (organizationId: string): Sql => sql`SELECT 'tag', tag, counted.count
	FROM counted LEFT JOIN ${labelledLinks(organizationId)} AS links ON links.id = CAST(counted.key AS uuid)
	LEFT JOIN LATERAL unnest(links.tags) AS tag ON true
	WHERE counted.dimension = 'link'`;

/** The stored dimensions from which these are counted: tags are counted from links. */
const storedDimensionsOf = (by: readonly DimensionName[]): DimensionName[] =>
	storedDimensions.filter((name) => by.includes(name) || (name === 'link' && by.includes('tag')));

/**
 * The `top` highest counts of each dimension, with ties of the last. A folded dimension has exactly `top` values, chosen
 * as in a rollup, then null and the sum of the other values: the report of a day is the same before and after rolling up.
 */
const breakdownsOf = (
	clicked: Sql,
	counted: CountedRows & {cover: Cover},
	{by, top, folded}: ListLimits & {by: readonly DimensionName[]},
): Sql => {
	const {organizationId} = counted.scope;
	const other = literal(OTHER);
	const matched = rowsBesideRollups(
		{table: 'match_attempts', time: 'at', columns: sql`method`, condition: sql`matched`},
		counted,
	);
	const matches = by.includes('matchMethod')
		? sql`UNION ALL SELECT 'matchMethod', method, count(*) FROM (${matched}) AS matches GROUP BY method`
		: sql``;
	const tags = by.includes('tag') ? sql`UNION ALL ${countedByTag(organizationId)}` : sql``;
	return sql`WITH counted AS (
			SELECT dimension, key, sum(count) AS count FROM (
				${rolledBreakdowns(counted.cover, organizationId, storedDimensionsOf(by))}
				SELECT dimension, key, count FROM (${clicked}) AS clicked
				${matches}
			) AS parts GROUP BY dimension, key HAVING sum(count) <> 0
		)
		SELECT dimension, CASE WHEN place <= ${top} THEN key ELSE ${other} END AS key, CAST(sum(count) AS float8) AS count FROM (
			SELECT dimension, key, sum(count) AS count, rank() OVER (
				PARTITION BY dimension, dimension = ANY(${folded}) AND (key IS NULL OR key = ${other})
				ORDER BY sum(count) DESC, CASE WHEN dimension = ANY(${folded}) THEN key COLLATE "C" END
			) AS place
			FROM (SELECT * FROM counted ${tags}) AS named
			WHERE dimension = ANY(${by}) GROUP BY dimension, key
		) AS placed WHERE place <= ${top} OR dimension = ANY(${folded}) GROUP BY 1, 2`;
};

const asJson = (select: Sql): Sql => sql`(SELECT coalesce(json_agg(found), '[]') FROM (${select}) AS found)`;

type ReportCounts = {series: Array<Counts & {start: number}>; breakdowns: DimensionCount[]};

/** A report's counts by time and by dimensions, unordered. */
export const readCounts = async (
	db: Db,
	scope: Scope,
	range: Range,
	query: Pick<StatsQuery, 'interval' | 'timezone'> & ListLimits & {by: readonly DimensionName[]},
	{rolled, quarters, spans}: Coverage,
	clicks: ClickReader = postgresReader,
): Promise<ReportCounts> => {
	const stored = storedDimensionsOf(query.by);
	const shared = {scope, range, rolled: rolled?.snapshot ?? NOTHING_ROLLED};
	const [byTime, byDimension] = [
		{...shared, cover: quarters},
		{...shared, cover: spans},
	];
	const counted = await clicks.counts(db, byTime);
	const broken = await clicks.dimensions(db, {...byDimension, by: stored});
	const read = clicks.shared(scope, range, stored);
	return onlyRow(
		await run<ReportCounts>(
			db,
			sql`${read === null ? sql`` : sql`WITH ${read}`}
			SELECT ${asJson(seriesOf(counted, byTime, query))} AS series,
				${asJson(breakdownsOf(broken, byDimension, query))} AS breakdowns`,
		),
	);
};

const LINK: readonly DimensionName[] = ['link'];

/** People's clicks of some links of an organization; links without any are omitted. */
export const readLinkCounts = async (
	db: Db,
	{organizationId, linkIds}: {organizationId: string; linkIds: readonly string[]},
	range: Range,
	{rolled, spans}: Coverage,
	clicks: ClickReader,
): Promise<Array<{key: string; count: number}>> => {
	const scope = {organizationId, linkIds: null};
	const counted = {scope, range, cover: spans, rolled: rolled?.snapshot ?? NOTHING_ROLLED};
	const clicked = await clicks.dimensions(db, {...counted, by: LINK});
	const isWanted = sql`key = ANY(${linkIds})`;
	return run(
		db,
		sql`SELECT key, CAST(sum(count) AS float8) AS count FROM (
			${rolledBreakdowns(spans, organizationId, LINK, isWanted)}
			SELECT dimension, key, count FROM (${clicked}) AS clicked WHERE ${isWanted}
		) AS counted GROUP BY key`,
	);
};

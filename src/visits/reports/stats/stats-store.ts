import {HOUR_MS} from '../../../platform/clock.ts';
import {type Db, onlyRow} from '../../../platform/db/db.ts';
import type {ClickReader} from '../../clicks/click-store.ts';
import {type DimensionName, storedDimensions} from '../../clicks/dimensions.ts';
import {OTHER} from '../rollups/cap-values.ts';
import {KEPT_OF_LINKS} from '../rollups/keep-link-visits.ts';
import {NOTHING_ROLLED, postgresReader, rowsBesideRollups} from '../rollups/rows-beside-rollups.ts';
import type {Covers} from './begin-report.ts';
import {labelledLinks} from './chosen-links.ts';
import type {Interval, Range, Scope, StatsQuery} from './stats-bounds.ts';
import {type Cover, floorTo} from './stats-cover.ts';

export type Counts = {clicks: number; crawlerViews: number; matches: number; events: number};
export type DimensionCount = {dimension: string; key: string | null; count: number};
/** How many values of a dimension are listed, and of which ones the rest is counted as `other`. */
export type ListLimits = {top: number; folded: readonly DimensionName[]};

const bindingsOf = ({organizationId, linkIds}: Scope, {from, to}: Range, {rolled, quarters, spans}: Covers) => ({
	organizationId,
	...(linkIds === null ? {} : {linkIds}),
	from,
	to,
	quartersFrom: quarters.from,
	quartersTo: quarters.to,
	spansFrom: spans.from,
	spansTo: spans.to,
	rolled: rolled?.snapshot ?? NOTHING_ROLLED,
});

/** SQL: counts per hour, day or month of the timezone; an empty one is left out. `start`: milliseconds. */
const seriesSql = (clicked: string, scope: Scope, interval: Interval): string => {
	// Hours as `readBounds` steps them: Lord Howe changes its clocks by half of one.
	const start =
		interval === 'hour'
			? `date_bin('1 hour', at, date_trunc('hour', CAST(:from AS timestamptz), :timezone))`
			: 'date_trunc(:interval, at, :timezone)';
	const beside = (table: string, time: string, columns: string, condition = 'true') =>
		rowsBesideRollups({table, time, columns, condition}, scope, 'quarters');
	return `SELECT CAST(extract(epoch FROM start) * 1000 AS float8) AS start, clicks, "crawlerViews", matches, events FROM (
			SELECT ${start} AS start, CAST(sum(clicks) AS float8) AS clicks,
				CAST(sum(crawler_views) AS float8) AS "crawlerViews", CAST(sum(matches) AS float8) AS matches,
				CAST(sum(events) AS float8) AS events
			FROM (
				${
					scope.linkIds === null
						? `SELECT start AS at, clicks, crawler_views, matches, events FROM rollup_quarters
							WHERE organization_id = :organizationId AND start >= :quartersFrom AND start < :quartersTo`
						: KEPT_OF_LINKS
				}
				UNION ALL SELECT at, clicks, crawler_views, 0, 0 FROM (${clicked}) AS clicked
				UNION ALL ${beside('match_attempts', 'at', 'at, 0, 0, 1, 0', 'matched')}
				UNION ALL ${beside('events', 'occurred_at', 'occurred_at, 0, 0, 0, 1')}
			) AS counted GROUP BY 1
		) AS parts`;
};

/**
 * SQL: the counts of the rollups that cover a range, each SELECT followed by UNION ALL. Hours are parts of a day's row,
 * and the range of them is within a day.
 */
const rolledBreakdowns = ({pieces}: Cover, condition = 'true'): string =>
	pieces
		.map(({span, from, to}, index) => {
			const first = from.getUTCHours() + 1;
			const last = from.getUTCHours() + (to.getTime() - from.getTime()) / HOUR_MS;
			const count = span === 'hour' ? `(SELECT sum(one) FROM unnest(hours[${first}:${last}]) AS one)` : 'count';
			return `SELECT dimension, key, ${count} AS count FROM rollup_breakdowns
				WHERE organization_id = :organizationId AND span = '${span === 'hour' ? 'day' : span}' AND dimension = ANY(:by)
					AND start >= :from${index} AND start < :to${index} AND ${condition}
				UNION ALL`;
		})
		.join(' ');

const pieceBounds = ({pieces}: Cover): Record<string, Date> =>
	Object.fromEntries(
		pieces.flatMap(({span, from, to}, index) => [
			[`from${index}`, span === 'hour' ? new Date(floorTo('day', from.getTime())) : from],
			[`to${index}`, to],
		]),
	);

/** SQL: the counts of `counted` by the tags of its links; null for links without any. */
const COUNTED_BY_TAG = `SELECT 'tag', tag, counted.count
	FROM counted LEFT JOIN ${labelledLinks} AS links ON links.id = CAST(counted.key AS uuid)
	LEFT JOIN LATERAL unnest(links.tags) AS tag ON true
	WHERE counted.dimension = 'link'`;

/** The stored dimensions that some are counted from. */
const storedOf = (by: readonly DimensionName[]): DimensionName[] =>
	storedDimensions.filter((name) => by.includes(name) || (name === 'link' && by.includes('tag')));

/**
 * SQL: the `top` highest counts of each dimension, with ties of the last. Folded ones have exactly that many names, chosen
 * as rolling up does, and beside them null and the sum of the rest: so rolling up changes no report of a day.
 */
const breakdownsSql = (clicked: string, scope: Scope, cover: Cover, by: readonly DimensionName[]): string => {
	const matched = rowsBesideRollups(
		{table: 'match_attempts', time: 'at', columns: 'method', condition: 'matched'},
		scope,
		'spans',
	);
	return `WITH counted AS (
			SELECT dimension, key, sum(count) AS count FROM (
				${rolledBreakdowns(cover)}
				SELECT dimension, key, count FROM (${clicked}) AS clicked
				${by.includes('matchMethod') ? `UNION ALL SELECT 'matchMethod', method, count(*) FROM (${matched}) AS matches GROUP BY method` : ''}
			) AS parts GROUP BY dimension, key HAVING sum(count) <> 0
		)
		SELECT dimension, CASE WHEN place <= :top THEN key ELSE '${OTHER}' END AS key, CAST(sum(count) AS float8) AS count FROM (
			SELECT dimension, key, sum(count) AS count, rank() OVER (
				PARTITION BY dimension, dimension = ANY(:folded) AND (key IS NULL OR key = '${OTHER}')
				ORDER BY sum(count) DESC, CASE WHEN dimension = ANY(:folded) THEN key COLLATE "C" END
			) AS place
			FROM (SELECT * FROM counted ${by.includes('tag') ? `UNION ALL ${COUNTED_BY_TAG}` : ''}) AS named
			WHERE dimension = ANY(:named) GROUP BY dimension, key
		) AS placed WHERE place <= :top OR dimension = ANY(:folded) GROUP BY 1, 2`;
};

const asJson = (sql: string): string => `(SELECT coalesce(json_agg(found), '[]') FROM (${sql}) AS found)`;

/** A report's counts by time and by dimensions, unordered. */
export const readCounts = async (
	db: Db,
	scope: Scope,
	range: Range,
	{
		interval,
		timezone,
		by,
		top,
		folded,
	}: Pick<StatsQuery, 'interval' | 'timezone'> & ListLimits & {by: readonly DimensionName[]},
	covers: Covers,
	clicks: ClickReader = postgresReader,
): Promise<{series: Array<Counts & {start: number}>; breakdowns: DimensionCount[]}> => {
	const {quarters, spans} = covers;
	const stored = storedOf(by);
	const counted = await clicks.counts(db, {scope, range, cover: quarters});
	const broken = await clicks.dimensions(db, {scope, range, cover: spans, by: stored});
	const shared = clicks.shared(scope, stored);
	const {rows} = await db.raw<{rows: Array<{series: Array<Counts & {start: number}>; breakdowns: DimensionCount[]}>}>(
		`${shared === null ? '' : `WITH ${shared}`}
		SELECT ${asJson(seriesSql(counted.sql, scope, interval))} AS series,
			${asJson(breakdownsSql(broken.sql, scope, spans, by))} AS breakdowns`,
		{
			...bindingsOf(scope, range, covers),
			...counted.bindings,
			...broken.bindings,
			...pieceBounds(spans),
			interval,
			timezone,
			by: stored,
			named: by,
			top,
			folded,
		},
	);
	return onlyRow(rows);
};

const LINK: readonly DimensionName[] = ['link'];

/** People's clicks of some links of an organization; links without any are left out. */
export const readLinkCounts = async (
	db: Db,
	{organizationId, linkIds}: {organizationId: string; linkIds: readonly string[]},
	range: Range,
	covers: Covers,
	clicks: ClickReader,
): Promise<Array<{key: string; count: number}>> => {
	const scope = {organizationId, linkIds: null};
	const {spans} = covers;
	const clicked = await clicks.dimensions(db, {scope, range, cover: spans, by: LINK});
	const isWanted = 'key = ANY(:linkIds)';
	const {rows} = await db.raw<{rows: Array<{key: string; count: number}>}>(
		`SELECT key, CAST(sum(count) AS float8) AS count FROM (
			${rolledBreakdowns(spans, isWanted)}
			SELECT dimension, key, count FROM (${clicked.sql}) AS clicked WHERE ${isWanted}
		) AS counted GROUP BY key`,
		{...bindingsOf(scope, range, covers), ...clicked.bindings, ...pieceBounds(spans), by: LINK, linkIds},
	);
	return rows;
};

import {HOUR_MS} from '../../../platform/clock.ts';
import type {Db} from '../../../platform/db/db.ts';
import type {ClickReader} from '../click-store.ts';
import {type DimensionName, storedDimensions} from '../dimensions.ts';
import {NOTHING_ROLLED, postgresReader, type Rolled, rowsBesideRollups} from '../rollups/rows-beside-rollups.ts';
import {labelledLinks} from './chosen-links.ts';
import type {Range, Scope, StatsQuery} from './stats-bounds.ts';
import {type Cover, floorTo} from './stats-cover.ts';

export type Counts = {clicks: number; crawlerViews: number; matches: number; events: number};
export type DimensionCount = {dimension: string; key: string | null; count: number};

/** JIT compilation takes longer than the statements of a report run. */
const JIT_OFF = "set_config('jit', 'off', true)";

/** Begins a report that reads rows only, in its transaction. */
export const readNoRollups = async (trx: Db): Promise<null> => {
	await trx.raw(`SELECT ${JIT_OFF}`);
	return null;
};

/**
 * How far the organization's rollups go. Read it first, in a transaction that sees one state of the database.
 * @returns null without rollups: before existing rows are added up, and in a restored copy until that is noticed.
 */
export const readRolled = async (db: Db, organizationId: string, partialDays: Date[]): Promise<Rolled | null> => {
	const {rows} = await db.raw<{rows: Array<{snapshot: string; days: Date[]}>}>(
		`SELECT ${JIT_OFF}, CAST(rolled AS text) AS snapshot, ARRAY(
			SELECT start FROM rollup_days WHERE organization_id = :organizationId AND has_hours
				AND start IN (:first, :last)) AS days
		FROM rollups WHERE cluster = (SELECT system_identifier FROM pg_control_system())
			AND (backfill_organization_id IS NULL OR CAST(:organizationId AS uuid) < backfill_organization_id)`,
		{organizationId, first: partialDays.at(0) ?? null, last: partialDays.at(-1) ?? null},
	);
	const [row] = rows;
	return row === undefined ? null : {snapshot: row.snapshot, daysWithHours: row.days};
};

const bindingsOf = ({organizationId, linkIds}: Scope, {from, to}: Range, cover: Range, rolled: Rolled | null) => ({
	organizationId,
	...(linkIds === null ? {} : {linkIds}),
	from,
	to,
	coverFrom: cover.from,
	coverTo: cover.to,
	rolled: rolled?.snapshot ?? NOTHING_ROLLED,
});

/** Counts per hour, day or month of the timezone; an empty one is left out. `cover`: the quarters to take from rollups. */
export const readSeries = async (
	db: Db,
	scope: Scope,
	range: Range & {cover: Range},
	{interval, timezone}: Pick<StatsQuery, 'interval' | 'timezone'>,
	rolled: Rolled | null,
	clicks: ClickReader = postgresReader,
): Promise<Array<Counts & {start: Date}>> => {
	const clicked = await clicks.counts(db, {scope, range, cover: range.cover});
	// Hours as `readBounds` steps them: Lord Howe changes its clocks by half of one.
	const start =
		interval === 'hour'
			? `date_bin('1 hour', at, date_trunc('hour', CAST(:from AS timestamptz), :timezone))`
			: 'date_trunc(:interval, at, :timezone)';
	const {rows} = await db.raw<{rows: Array<Counts & {start: Date}>}>(
		`SELECT ${start} AS start, CAST(sum(clicks) AS float8) AS clicks,
			CAST(sum(crawler_views) AS float8) AS "crawlerViews", CAST(sum(matches) AS float8) AS matches,
			CAST(sum(events) AS float8) AS events
		FROM (
			SELECT start AS at, clicks, crawler_views, matches, events FROM rollup_quarters
			WHERE organization_id = :organizationId AND start >= :coverFrom AND start < :coverTo
			UNION ALL SELECT at, clicks, crawler_views, 0, 0 FROM (${clicked.sql}) AS clicked
			UNION ALL ${rowsBesideRollups('match_attempts', 'at', 'at, 0, 0, 1, 0', scope, 'matched')}
			UNION ALL ${rowsBesideRollups('events', 'occurred_at', 'occurred_at, 0, 0, 0, 1', scope)}
		) AS counted GROUP BY 1`,
		{...bindingsOf(scope, range, range.cover, rolled), ...clicked.bindings, interval, timezone},
	);
	return rows;
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

/** The `top` highest counts of each dimension, with ties of the last, unordered. */
export const readBreakdowns = async (
	db: Db,
	scope: Scope,
	range: Range & {cover: Cover},
	{by, top}: {by: readonly DimensionName[]; top: number},
	rolled: Rolled | null,
	clicks: ClickReader = postgresReader,
): Promise<DimensionCount[]> => {
	const stored = storedOf(by);
	const clicked = await clicks.dimensions(db, {scope, range, cover: range.cover, by: stored});
	const matched = rowsBesideRollups('match_attempts', 'at', 'method', scope, 'matched');
	const {rows} = await db.raw<{rows: DimensionCount[]}>(
		`WITH counted AS (
			SELECT dimension, key, sum(count) AS count FROM (
				${rolledBreakdowns(range.cover)}
				SELECT dimension, key, count FROM (${clicked.sql}) AS clicked
				${by.includes('matchMethod') ? `UNION ALL SELECT 'matchMethod', method, count(*) FROM (${matched}) AS matches GROUP BY method` : ''}
			) AS parts GROUP BY dimension, key HAVING sum(count) <> 0
		)
		SELECT dimension, key, CAST(count AS float8) AS count FROM (
			SELECT dimension, key, sum(count) AS count, rank() OVER (PARTITION BY dimension ORDER BY sum(count) DESC) AS place
			FROM (SELECT * FROM counted ${by.includes('tag') ? `UNION ALL ${COUNTED_BY_TAG}` : ''}) AS named
			WHERE dimension = ANY(:named) GROUP BY dimension, key
		) AS placed WHERE place <= :top`,
		{
			...bindingsOf(scope, range, range.cover, rolled),
			...clicked.bindings,
			...pieceBounds(range.cover),
			by: stored,
			named: by,
			top,
		},
	);
	return rows;
};

const LINK: readonly DimensionName[] = ['link'];

/** People's clicks of some links of an organization; links without any are left out. */
export const readLinkCounts = async (
	db: Db,
	{organizationId, linkIds}: {organizationId: string; linkIds: readonly string[]},
	range: Range & {cover: Cover},
	rolled: Rolled | null,
	clicks: ClickReader,
): Promise<Array<{key: string; count: number}>> => {
	const scope = {organizationId, linkIds: null};
	const clicked = await clicks.dimensions(db, {scope, range, cover: range.cover, by: LINK});
	const isWanted = 'key = ANY(:linkIds)';
	const {rows} = await db.raw<{rows: Array<{key: string; count: number}>}>(
		`SELECT key, CAST(sum(count) AS float8) AS count FROM (
			${rolledBreakdowns(range.cover, isWanted)}
			SELECT dimension, key, count FROM (${clicked.sql}) AS clicked WHERE ${isWanted}
		) AS counted GROUP BY key`,
		{
			...bindingsOf(scope, range, range.cover, rolled),
			...clicked.bindings,
			...pieceBounds(range.cover),
			by: LINK,
			linkIds,
		},
	);
	return rows;
};

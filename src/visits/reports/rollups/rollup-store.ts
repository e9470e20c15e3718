import type {Db} from '../../../platform/db/db.ts';
import {clicksInFull} from '../../clicks/click-context.ts';
import {stepOf, writtenBetween} from '../../clicks/click-times.ts';
import {countedColumns} from '../../clicks/dimensions.ts';
import {capValues} from './cap-values.ts';
import {countDimensions} from './count-dimensions.ts';

/**
 * The rows to add: of the transactions that ended between two snapshots, an organization's older rows of a day, or
 * tallies of clicks that are elsewhere. `rolled`: the snapshot of the rollups with these rows.
 */
export type Slice = {rolled: string} & (
	| {since: string}
	| {old: {organizationId: string; from: Date; to: Date}}
	| {tallies: number}
);

export type RollupState = {
	isOfThisCluster: boolean;
	/** The rows of transactions that had ended by this snapshot are in the rollups. */
	rolled: string;
	/** The snapshot of now. */
	current: string;
	backfill: {organizationId: string; from: string} | null;
	/** Whether the rows of clicks are outside PostgreSQL. */
	areClicksInClickHouse: boolean;
	hasTallies: boolean;
};

/** Serializes rolling up between processes; the number only has to differ from our other advisory locks. */
const ROLLUP_LOCK = 7_201_005;

/** For the rest of the transaction. @returns false where another process has it. */
export const takeRollupLock = async (trx: Db): Promise<boolean> => {
	const {rows} = await trx.raw<{rows: Array<{taken: boolean}>}>('SELECT pg_try_advisory_xact_lock(?) AS taken', [
		ROLLUP_LOCK,
	]);
	return rows[0]?.taken ?? false;
};

/** Read it after taking the lock, in a separate statement: an earlier state may be outdated by another process. */
export const readState = async (trx: Db): Promise<RollupState | null> => {
	const {rows} = await trx.raw<{rows: RollupState[]}>(
		`SELECT cluster = (SELECT system_identifier FROM pg_control_system()) AS "isOfThisCluster",
			CAST(rolled AS text) AS rolled, CAST(pg_current_snapshot() AS text) AS current,
			CASE WHEN backfill_organization_id IS NOT NULL THEN json_build_object(
				'organizationId', backfill_organization_id, 'from', CAST(backfill_from AS text)
			) END AS backfill,
			EXISTS (SELECT FROM settings WHERE name = 'clicks') AS "areClicksInClickHouse",
			EXISTS (SELECT FROM click_tallies) AS "hasTallies"
		FROM rollups`,
	);
	return rows[0] ?? null;
};

/** A click's time as in the index of an organization's clicks. It has the day (UTC), and no more is needed. */
export const CLICK_STEP = stepOf('organization', 'occurred_at');

/** `time`: the index column of an organization's rows. */
const tables = [
	{name: 'clicks', time: CLICK_STEP},
	{name: 'match_attempts', time: 'at'},
	{name: 'events', time: 'occurred_at'},
] as const;

const isBetween = writtenBetween('since', 'rolled');

/** The first of the transactions that ended between two snapshots and wrote rows to count. */
export const findFirstWriter = async (trx: Db, range: {since: string; rolled: string}): Promise<string | null> => {
	const {rows} = await trx.raw<{rows: Array<{writer: string}>}>(
		`SELECT CAST(writer AS text) AS writer FROM (
			${tables.map(({name}) => `(SELECT writer FROM ${name} WHERE ${isBetween} ORDER BY writer LIMIT 1)`).join(' UNION ALL ')}
		) AS firsts ORDER BY firsts.writer LIMIT 1`,
		range,
	);
	return rows[0]?.writer ?? null;
};

/** The first of those transactions that wrote a click of a time or later. */
export const findFirstChanging = async (
	trx: Db,
	range: {since: string; rolled: string; from: Date},
): Promise<string | null> => {
	const {rows} = await trx.raw<{rows: Array<{writer: string}>}>(
		`SELECT CAST(writer AS text) AS writer FROM clicks WHERE occurred_at >= :from AND ${isBetween} ORDER BY clicks.writer LIMIT 1`,
		range,
	);
	return rows[0]?.writer ?? null;
};

/** The next day (UTC) that has older rows, in the order of organizations. */
export const findOldDay = async (
	trx: Db,
	{organizationId, from}: {organizationId: string; from: string},
): Promise<{organizationId: string; from: Date; to: Date} | null> => {
	const {rows} = await trx.raw<{rows: Array<{organizationId: string; from: Date; to: Date}>}>(
		`SELECT id AS "organizationId", day AS "from", day + interval '1 day' AS "to" FROM organizations, LATERAL (
			SELECT date_trunc('day', least(${tables
				.map(
					({name, time}) => `(SELECT min(${time}) FROM ${name} WHERE organization_id = organizations.id AND writer = '0'
						AND ${time} >= CASE WHEN organizations.id = CAST(:organizationId AS uuid) THEN CAST(:from AS timestamptz) ELSE '-infinity' END)`,
				)
				.join(', ')}), 'UTC') AS day
		) AS first
		WHERE id >= CAST(:organizationId AS uuid) AND day IS NOT NULL ORDER BY id LIMIT 1`,
		{organizationId, from},
	);
	return rows[0] ?? null;
};

const sliceOf = (slice: Slice, time: string): string =>
	'tallies' in slice
		? 'false'
		: 'since' in slice
			? isBetween
			: `organization_id = :organizationId AND ${time} >= :from AND ${time} < :to AND writer = '0'`;

const bindingsOf = (slice: Slice) =>
	'tallies' in slice
		? {tallies: slice.tallies}
		: 'since' in slice
			? {since: slice.since, rolled: slice.rolled}
			: {...slice.old};

const clickedOf = (slice: Slice): string =>
	'tallies' in slice
		? `DELETE FROM click_tallies WHERE ctid = ANY(ARRAY(SELECT ctid FROM click_tallies LIMIT :tallies))
			RETURNING organization_id, start AS at, is_person, clicks AS weight, link_id, ${countedColumns.join(', ')}`
		: `SELECT organization_id, occurred_at AS at, bot_class IS NULL AS is_person, 1 AS weight,
				link_id, ${countedColumns.join(', ')}
			FROM ${clicksInFull} AS clicks WHERE ${sliceOf(slice, CLICK_STEP)}`;

/** The day of a row, and, where the day's breakdowns are kept by the hour, its hour. */
const dayAndHour = (rows: string): string => `date_trunc('day', at, 'UTC') AS day, CASE WHEN EXISTS (
		SELECT FROM rollup_days WHERE rollup_days.organization_id = ${rows}.organization_id
			AND rollup_days.start = date_trunc('day', at, 'UTC') AND has_hours
	) THEN date_trunc('hour', at, 'UTC') END AS hour`;

/** The unique index of `rollup_breakdowns`, in which all rows without a key are equal. */
const BREAKDOWN_KEY = ['organization_id', 'span', 'dimension', 'start', "coalesce(key, '')", '(key IS NULL)'];

const HOURS = Array.from({length: 24}, (_, hour) => hour);

/** SQL: the sums of `count` by `hour` of a day, as an array; null without hours. */
export const hoursOf = (day: string): string =>
	`CASE WHEN count(hour) > 0 THEN CAST(ARRAY[${HOURS.map(
		(hour) => `coalesce(sum(count) FILTER (WHERE hour = ${day} + interval '${hour} hours'), 0)`,
	).join(', ')}] AS integer[]) END`;

/** SQL: the sum of two such arrays. */
const ADDED_HOURS = `CASE WHEN rollup_breakdowns.hours IS NULL OR excluded.hours IS NULL
	THEN coalesce(rollup_breakdowns.hours, excluded.hours)
	ELSE ARRAY(SELECT one + other FROM unnest(rollup_breakdowns.hours, excluded.hours) WITH ORDINALITY AS both_hours (one, other, hour)
		ORDER BY hour) END`;

/** An upsert that adds to the counts. */
const adding = (table: string, key: string[], counts: string[]): string =>
	`ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${counts
		.map((column) => `${column} = ${table}.${column} + excluded.${column}`)
		.join(', ')}`;

/**
 * Adds the rows of the slice to the rollups, except those of an organization that has been deleted meanwhile. Visitors
 * choose most values, so a day keeps at most `values` of a dimension and adds up the rest: first those that it has already,
 * then the new ones with the most clicks. A value that was not kept once is not kept on that day.
 * @returns the days that have become too busy to be read row by row.
 */
export const addSlice = async (
	trx: Db,
	slice: Slice,
	{busy, values}: {busy: number; values: number},
): Promise<Array<{organizationId: string; day: Date}>> => {
	const {rows} = await trx.raw<{rows: Array<{organizationId: string; day: Date}>}>(
		`WITH clicked AS MATERIALIZED (
			${clickedOf(slice)}
		), matched AS MATERIALIZED (
			SELECT organization_id, at, method FROM match_attempts
			WHERE matched AND organization_id IS NOT NULL AND ${sliceOf(slice, 'at')}
		), happened AS MATERIALIZED (
			SELECT organization_id, occurred_at AS at FROM events WHERE ${sliceOf(slice, 'occurred_at')}
		), present AS MATERIALIZED (
			SELECT id FROM organizations WHERE id IN (SELECT organization_id FROM clicked UNION
				SELECT organization_id FROM matched UNION SELECT organization_id FROM happened)
			ORDER BY id FOR KEY SHARE
		), quarters AS (
			INSERT INTO rollup_quarters (organization_id, start, clicks, crawler_views, matches, events)
			SELECT organization_id, date_bin('15 minutes', at, '2000-01-01Z'), sum(person), sum(crawler), sum(match), sum(event)
			FROM (
				SELECT organization_id, at, CASE WHEN is_person THEN weight ELSE 0 END AS person,
					CASE WHEN is_person THEN 0 ELSE weight END AS crawler,
					0 AS match, 0 AS event FROM clicked
				UNION ALL SELECT organization_id, at, 0, 0, 1, 0 FROM matched
				UNION ALL SELECT organization_id, at, 0, 0, 0, 1 FROM happened
			) AS counted WHERE organization_id IN (SELECT id FROM present) GROUP BY 1, 2
			${adding('rollup_quarters', ['organization_id', 'start'], ['clicks', 'crawler_views', 'matches', 'events'])}
		), found AS MATERIALIZED (
			SELECT * FROM (
				${countDimensions(`(SELECT *, ${dayAndHour('clicked')} FROM clicked WHERE is_person) AS people`, {by: ['organization_id', 'day', 'hour'], weight: 'tallies' in slice ? 'weight' : null})}
				UNION ALL SELECT organization_id, day, hour, 'matchMethod', method, count(*)
				FROM (SELECT *, ${dayAndHour('matched')} FROM matched) AS matches GROUP BY organization_id, day, hour, method
			) AS counted WHERE organization_id IN (SELECT id FROM present)
		), ${capValues}, breakdowns AS (
			INSERT INTO rollup_breakdowns (organization_id, span, start, dimension, key, count, hours)
			SELECT organization_id, 'day', day, dimension, key, sum(count), ${hoursOf('day')} FROM parts GROUP BY 1, 2, 3, 4, 5
			UNION ALL SELECT organization_id, 'month', date_trunc('month', day, 'UTC'), dimension, key, sum(count), NULL
			FROM parts GROUP BY 1, 2, 3, 4, 5
			${adding('rollup_breakdowns', BREAKDOWN_KEY, ['count'])}, hours = ${ADDED_HOURS}
		), days AS (
			INSERT INTO rollup_days (organization_id, start, counted, has_hours)
			SELECT organization_id, day, sum(count), false FROM parts WHERE dimension IN ('platform', 'matchMethod') GROUP BY 1, 2
			${adding('rollup_days', ['organization_id', 'start'], ['counted'])}
			RETURNING organization_id, start, counted, has_hours
		)
		SELECT organization_id AS "organizationId", start AS day FROM days WHERE counted >= :busy AND NOT has_hours`,
		{...bindingsOf(slice), busy, values},
	);
	return rows;
};

/** Stores the rollups' progress, in the transaction that made it. */
export const saveProgress = async (
	trx: Db,
	{rolled, backfill}: Pick<RollupState, 'rolled'> & {backfill: {organizationId: string; from: Date} | null},
): Promise<void> => {
	await trx('rollups').update({
		rolled,
		backfill_organization_id: backfill?.organizationId ?? null,
		...(backfill === null ? {} : {backfill_from: backfill.from}),
	});
};

/**
 * Collects PostgreSQL's statistics on the column `writer`. Without them it finds the few rows that are not rolled up by
 * reading all rows of an organization; it would collect them itself only after a tenth of the rows had changed.
 */
export const analyzeWriters = async (trx: Db): Promise<void> => {
	await trx.raw(`ANALYZE ${tables.map(({name}) => `${name} (writer)`).join(', ')}`);
};

/** Renumbers rows and forgets what can be counted again, after a database was restored into another cluster. */
export const restartRollups = async (trx: Db): Promise<void> => {
	await trx.raw('SELECT restart_rollups()');
};

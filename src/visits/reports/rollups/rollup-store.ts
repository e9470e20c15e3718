import type {Db} from '../../../platform/db/db.ts';
import {type Snapshot, writtenBetween} from '../../../platform/db/new-rows.ts';
import {execute, identifier, joined, literal, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {clicksInFull, stepOf} from '../../clicks/click-sql.ts';
import {countedColumns} from '../../clicks/dimensions.ts';
import {capValues, countDimensions} from './count-dimensions.ts';

/**
 * The rows to add: of the transactions that ended between two snapshots, an organization's older rows of a day, or
 * tallies of clicks elsewhere. `rolled`: the snapshot of the rollups with these rows.
 */
export type Slice = {rolled: Snapshot} & (
	| {since: Snapshot}
	| {old: {organizationId: string; from: Date; to: Date}}
	| {tallies: number}
);

export type RollupState = {
	isOfThisCluster: boolean;
	/** The rows of transactions that had ended by this snapshot are in the rollups. */
	rolled: Snapshot;
	/** The snapshot of now. */
	current: Snapshot;
	backfill: {organizationId: string; from: string} | null;
	/** Whether the rows of clicks are outside PostgreSQL. */
	areClicksInClickHouse: boolean;
	hasTallies: boolean;
};

/** Serializes rolling up between processes; the number only has to differ from our other advisory locks. */
const ROLLUP_LOCK = 7_201_005;

/** For the rest of the transaction. @returns false if another process has it. */
export const takeRollupLock = async (trx: Db): Promise<boolean> => {
	const [row] = await run<{taken: boolean}>(trx, sql`SELECT pg_try_advisory_xact_lock(${ROLLUP_LOCK}) AS taken`);
	return row?.taken ?? false;
};

/** Read it after taking the lock, in a separate statement: an earlier state may be outdated by another process. */
export const readState = async (trx: Db): Promise<RollupState | null> => {
	const [state] = await run<RollupState>(
		trx,
		sql`SELECT cluster = (SELECT system_identifier FROM pg_control_system()) AS "isOfThisCluster",
			CAST(rolled AS text) AS rolled, CAST(pg_current_snapshot() AS text) AS current,
			CASE WHEN backfill_organization_id IS NOT NULL THEN json_build_object(
				'organizationId', backfill_organization_id, 'from', CAST(backfill_from AS text)
			) END AS backfill,
			EXISTS (SELECT FROM settings WHERE name = 'clicks') AS "areClicksInClickHouse",
			EXISTS (SELECT FROM click_tallies) AS "hasTallies"
		FROM rollups`,
	);
	return state ?? null;
};

/** A click's time as in the index of an organization's clicks; only its day (UTC) is exact. */
export const CLICK_STEP = stepOf('organization', sql`occurred_at`);

/** `time`: the index column of an organization's rows. */
const tables = [
	{name: sql`clicks`, time: CLICK_STEP},
	{name: sql`match_attempts`, time: sql`at`},
	{name: sql`events`, time: sql`occurred_at`},
];

type SnapshotPair = {since: Snapshot; rolled: Snapshot};

const isBetween = ({since, rolled}: SnapshotPair): Sql => writtenBetween({from: since, upTo: rolled});

/** The first of the transactions that ended between two snapshots and wrote rows to count. */
export const findFirstWriter = async (trx: Db, range: SnapshotPair): Promise<string | null> => {
	const firsts = tables.map(
		({name}) => sql`(SELECT writer FROM ${name} WHERE ${isBetween(range)} ORDER BY writer LIMIT 1)`,
	);
	const [row] = await run<{writer: string}>(
		trx,
		sql`SELECT CAST(writer AS text) AS writer FROM (${joined(firsts, ' UNION ALL ')}) AS firsts ORDER BY firsts.writer LIMIT 1`,
	);
	return row?.writer ?? null;
};

/** The first of those transactions that wrote a click of a time or later. */
export const findFirstChanging = async (
	trx: Db,
	{from, ...range}: SnapshotPair & {from: Date},
): Promise<string | null> => {
	const [row] = await run<{writer: string}>(
		trx,
		sql`SELECT CAST(writer AS text) AS writer FROM clicks WHERE occurred_at >= ${from} AND ${isBetween(range)}
			ORDER BY clicks.writer LIMIT 1`,
	);
	return row?.writer ?? null;
};

/** The next day (UTC) that has older rows, in the order of organizations. */
export const findOldDay = async (
	trx: Db,
	{organizationId, from}: {organizationId: string; from: string},
): Promise<{organizationId: string; from: Date; to: Date} | null> => {
	const firsts = tables.map(
		({name, time}) => sql`(SELECT min(${time}) FROM ${name} WHERE organization_id = organizations.id AND writer = '0'
			AND ${time} >= CASE WHEN organizations.id = ${organizationId}::uuid THEN ${from}::timestamptz ELSE '-infinity' END)`,
	);
	const [day] = await run<{organizationId: string; from: Date; to: Date}>(
		trx,
		sql`SELECT id AS "organizationId", day AS "from", day + interval '1 day' AS "to" FROM organizations, LATERAL (
			SELECT date_trunc('day', least(${joined(firsts)}), 'UTC') AS day
		) AS first
		WHERE id >= ${organizationId}::uuid AND day IS NOT NULL ORDER BY id LIMIT 1`,
	);
	return day ?? null;
};

const sliceOf = (slice: Slice, time: Sql): Sql => {
	if ('tallies' in slice) {
		return sql`false`;
	}

	return 'since' in slice
		? isBetween(slice)
		: sql`organization_id = ${slice.old.organizationId} AND ${time} >= ${slice.old.from} AND ${time} < ${slice.old.to}
			AND writer = '0'`;
};

const counted = joined(countedColumns.map(identifier));

const clickedOf = (slice: Slice): Sql =>
	'tallies' in slice
		? sql`DELETE FROM click_tallies WHERE ctid = ANY(ARRAY(SELECT ctid FROM click_tallies LIMIT ${slice.tallies}))
			RETURNING organization_id, start AS at, is_person, clicks AS weight, link_id, ${counted}`
		: sql`SELECT organization_id, occurred_at AS at, bot_class IS NULL AS is_person, 1 AS weight, link_id, ${counted}
			FROM ${clicksInFull} AS clicks WHERE ${sliceOf(slice, CLICK_STEP)}`;

/** The day of a row, and its hour if the day's breakdowns are kept by the hour. */
const dayAndHour = (rows: Sql): Sql => sql`date_trunc('day', at, 'UTC') AS day, CASE WHEN EXISTS (
		SELECT FROM rollup_days WHERE rollup_days.organization_id = ${rows}.organization_id
			AND rollup_days.start = date_trunc('day', at, 'UTC') AND has_hours
	) THEN date_trunc('hour', at, 'UTC') END AS hour`;

const HOURS = Array.from({length: 24}, (_, hour) => hour);

/** The sums of `count` by `hour` of a day, as an array; null without hours. */
export const hoursOf = (day: Sql): Sql => {
	const sums = HOURS.map(
		(hour) => sql`coalesce(sum(count) FILTER (WHERE hour = ${day} + interval ${literal(`${hour} hours`)}), 0)`,
	);
	return sql`CASE WHEN count(hour) > 0 THEN CAST(ARRAY[${joined(sums)}] AS integer[]) END`;
};

/** The sum of two such arrays. */
const ADDED_HOURS = sql`CASE WHEN rollup_breakdowns.hours IS NULL OR excluded.hours IS NULL
	THEN coalesce(rollup_breakdowns.hours, excluded.hours)
	ELSE ARRAY(SELECT one + other FROM unnest(rollup_breakdowns.hours, excluded.hours) WITH ORDINALITY AS both_hours (one, other, hour)
		ORDER BY hour) END`;

/** An upsert that adds to the counts. */
const addOnConflict = (table: Sql, key: Sql, counts: readonly Sql[]): Sql =>
	sql`ON CONFLICT (${key}) DO UPDATE
		SET ${joined(counts.map((column) => sql`${column} = ${table}.${column} + excluded.${column}`))}`;

/** The quarters of an hour of the slice. */
const quartersOf = sql`INSERT INTO rollup_quarters (organization_id, start, clicks, crawler_views, matches, events)
	SELECT organization_id, date_bin('15 minutes', at, '2000-01-01Z'), sum(person), sum(crawler), sum(match), sum(event)
	FROM (
		SELECT organization_id, at, CASE WHEN is_person THEN weight ELSE 0 END AS person,
			CASE WHEN is_person THEN 0 ELSE weight END AS crawler,
			0 AS match, 0 AS event FROM clicked
		UNION ALL SELECT organization_id, at, 0, 0, 1, 0 FROM matched
		UNION ALL SELECT organization_id, at, 0, 0, 0, 1 FROM happened
	) AS counted WHERE organization_id IN (SELECT id FROM present) GROUP BY 1, 2
	${addOnConflict(
		sql`rollup_quarters`,
		sql`organization_id, start`,
		['clicks', 'crawler_views', 'matches', 'events'].map(identifier),
	)}`;

/**
 * Adds the rows of the slice to the rollups, except those of an organization that has been deleted meanwhile. Visitors
 * choose most values, so a day keeps at most `values` of a dimension and adds up the rest: first those that it has already,
 * then the new ones with the most clicks. A value that was not kept once is not kept on that day.
 * @returns the days that have become too busy to be read row by row.
 */
export const addSlice = (
	trx: Db,
	slice: Slice,
	{busy, values}: {busy: number; values: number},
): Promise<Array<{organizationId: string; day: Date}>> => {
	const people = sql`(SELECT *, ${dayAndHour(sql`clicked`)} FROM clicked WHERE is_person) AS people`;
	const weight = 'tallies' in slice ? sql`weight` : null;
	// The unique index of `rollup_breakdowns`, in which all rows without a key are equal.
	const breakdown = sql`organization_id, span, dimension, start, coalesce(key, ''), (key IS NULL)`;
	return run(
		trx,
		sql`WITH clicked AS MATERIALIZED (
			${clickedOf(slice)}
		), matched AS MATERIALIZED (
			SELECT organization_id, at, method FROM match_attempts
			WHERE matched AND organization_id IS NOT NULL AND ${sliceOf(slice, sql`at`)}
		), happened AS MATERIALIZED (
			SELECT organization_id, occurred_at AS at FROM events WHERE ${sliceOf(slice, sql`occurred_at`)}
		), present AS MATERIALIZED (
			SELECT id FROM organizations WHERE id IN (SELECT organization_id FROM clicked UNION
				SELECT organization_id FROM matched UNION SELECT organization_id FROM happened)
			ORDER BY id FOR KEY SHARE
		), quarters AS (
			${quartersOf}
		), found AS MATERIALIZED (
			SELECT * FROM (
				${countDimensions(people, {by: ['organization_id', 'day', 'hour'], weight})}
				UNION ALL SELECT organization_id, day, hour, 'matchMethod', method, count(*)
				FROM (SELECT *, ${dayAndHour(sql`matched`)} FROM matched) AS matches GROUP BY organization_id, day, hour, method
			) AS counted WHERE organization_id IN (SELECT id FROM present)
		), ${capValues(values)}, breakdowns AS (
			INSERT INTO rollup_breakdowns (organization_id, span, start, dimension, key, count, hours)
			SELECT organization_id, 'day', day, dimension, key, sum(count), ${hoursOf(sql`day`)} FROM parts GROUP BY 1, 2, 3, 4, 5
			UNION ALL SELECT organization_id, 'month', date_trunc('month', day, 'UTC'), dimension, key, sum(count), NULL
			FROM parts GROUP BY 1, 2, 3, 4, 5
			${addOnConflict(sql`rollup_breakdowns`, breakdown, [sql`count`])}, hours = ${ADDED_HOURS}
		), days AS (
			INSERT INTO rollup_days (organization_id, start, counted, has_hours)
			SELECT organization_id, day, sum(count), false FROM parts WHERE dimension IN ('platform', 'matchMethod') GROUP BY 1, 2
			${addOnConflict(sql`rollup_days`, sql`organization_id, start`, [sql`counted`])}
			RETURNING organization_id, start, counted, has_hours
		)
		SELECT organization_id AS "organizationId", start AS day FROM days WHERE counted >= ${busy} AND NOT has_hours`,
	);
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
	await execute(trx, sql`ANALYZE ${joined(tables.map(({name}) => sql`${name} (writer)`))}`);
};

/** Renumbers rows and discards counts that can be repeated, after a database was restored into another cluster. */
export const restartRollups = async (trx: Db): Promise<void> => {
	await execute(trx, sql`SELECT restart_rollups()`);
};

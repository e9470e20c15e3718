import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {run, type Sql, sql} from '../../../platform/db/sql.ts';
import {validationFailed} from '../../../platform/errors.ts';
import type {DimensionName} from '../../clicks/dimensions.ts';
import type {LinkFilter} from './chosen-links.ts';

export type Interval = 'hour' | 'day' | 'month';

/** The range of a report. `from` and `to` are half-open; null parts take their defaults. */
export type RangeQuery = {from: string | null; to: string | null; interval: Interval; timezone: string};

/** `by`: the breakdowns, `usualDimensions` if absent. */
export type StatsQuery = RangeQuery & LinkFilter & {by?: readonly DimensionName[]};

/** Half-open. */
export type Range = {from: Date; to: Date};

/** The rows to count. `linkIds` null: those of the organization. */
export type Scope = {organizationId: string; linkIds: readonly string[] | null};

/** Maximum buckets of an answer. */
const MAX_BUCKETS = 10_000;

const HAS_OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** A bound: a date or time without an offset is in the caller's timezone. @param fallback days after the start of today. */
const boundOf = (text: string | null, fallback: number, {timezone, now}: {timezone: string; now: Date}): Sql => {
	if (text === null) {
		const today = sql`date_trunc('day', ${now}::timestamptz AT TIME ZONE ${timezone})`;
		return sql`(${today} + ${fallback} * interval '1 day') AT TIME ZONE ${timezone}`;
	}

	return HAS_OFFSET.test(text.slice(10)) ? sql`${text}::timestamptz` : sql`${text}::timestamp AT TIME ZONE ${timezone}`;
};

/** SQLSTATE of a zone that PostgreSQL does not know. */
const INVALID_PARAMETER = '22023';

const zoneRefused = (error: unknown): never => {
	throw (error as {code?: unknown}).code === INVALID_PARAMETER
		? validationFailed([{message: 'timezone must be an IANA time zone', field: 'timezone'}])
		: error;
};

/** The starts of the parts of a range. Hours are stepped as instants: clock changes neither drop nor double one. */
const startsOf = ({interval, timezone}: Pick<RangeQuery, 'interval' | 'timezone'>): Sql =>
	interval === 'hour'
		? sql`generate_series(date_trunc('hour', starts, ${timezone}), ends - interval '1 microsecond', '1 hour') AS start`
		: sql`(SELECT local AT TIME ZONE ${timezone} AS start FROM generate_series(
			date_trunc(${interval}, starts AT TIME ZONE ${timezone}),
			(ends - interval '1 microsecond') AT TIME ZONE ${timezone}, ${`1 ${interval}`}::interval) AS local) AS local_starts`;

/**
 * The report's bounds as instants, by default the last 30 full days including today, and the starts of its parts without
 * gaps.
 * @throws 400.
 */
export const readBounds = async (db: Db, query: RangeQuery, now: Date): Promise<{range: Range; starts: Date[]}> => {
	const {from, to, interval, timezone} = query;
	const zone = {timezone, now};
	const rows = await run<Range & {parts: Date[] | null}>(
		db,
		sql`WITH bounds AS (SELECT ${boundOf(from, -29, zone)} AS starts, ${boundOf(to, 1, zone)} AS ends)
		SELECT starts AS "from", ends AS "to", CASE
			WHEN extract(epoch FROM ends - starts) <= ${MAX_BUCKETS} * extract(epoch FROM ${`1 ${interval}`}::interval)
			THEN ARRAY(SELECT start FROM ${startsOf(query)} ORDER BY start)
		END AS parts FROM bounds WHERE starts AT TIME ZONE ${timezone} IS NOT NULL`,
	).catch(zoneRefused);
	const {parts, ...range} = onlyRow(rows);
	if (range.from >= range.to) {
		throw validationFailed([{message: 'from must be before to', field: 'from'}]);
	}

	if (parts === null) {
		throw validationFailed([{message: `interval must give at most ${MAX_BUCKETS} parts`, field: 'interval'}]);
	}

	return {range, starts: parts};
};

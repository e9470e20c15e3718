import {type Db, onlyRow} from '../../../platform/db/db.ts';
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

/** The rows to count. `linkIds` null: all of the organization. */
export type Scope = {organizationId: string; linkIds: readonly string[] | null};

/** Most buckets of an answer. */
const MAX_BUCKETS = 10_000;

const HAS_OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * A bound as SQL: a date or time without an offset is in the caller's timezone. `CAST`, because knex would take `:x::`
 * for a binding.
 */
const boundSql = (name: 'from' | 'to', text: string | null, fallback: string): string => {
	if (text === null) {
		return `(date_trunc('day', CAST(:now AS timestamptz) AT TIME ZONE :timezone) + ${fallback}) AT TIME ZONE :timezone`;
	}

	return HAS_OFFSET.test(text.slice(10))
		? `CAST(:${name} AS timestamptz)`
		: `CAST(:${name} AS timestamp) AT TIME ZONE :timezone`;
};

/** SQLSTATE of a zone that PostgreSQL does not know. */
const INVALID_PARAMETER = '22023';

const zoneRefused = (error: unknown): never => {
	throw (error as {code?: unknown}).code === INVALID_PARAMETER
		? validationFailed([{message: 'timezone must be an IANA time zone', field: 'timezone'}])
		: error;
};

/** SQL: the starts of the parts of a range. Hours are stepped as instants, so that none is lost or doubled at clock changes. */
const startsSql = (interval: Interval): string =>
	interval === 'hour'
		? "generate_series(date_trunc('hour', starts, :timezone), ends - interval '1 microsecond', '1 hour') AS start"
		: `(SELECT local AT TIME ZONE :timezone AS start FROM generate_series(
			date_trunc(:interval, starts AT TIME ZONE :timezone), (ends - interval '1 microsecond') AT TIME ZONE :timezone,
			CAST('1 ' || :interval AS interval)) AS local) AS local_starts`;

/**
 * The report's bounds as instants, by default the last 30 full days including today, and the starts of its parts without
 * gaps.
 * @throws 400.
 */
export const readBounds = async (
	db: Db,
	{from, to, interval, timezone}: RangeQuery,
	now: Date,
): Promise<{range: Range; starts: Date[]}> => {
	const asked = db.raw<{rows: Array<Range & {parts: Date[] | null}>}>(
		`WITH bounds AS (
			SELECT ${boundSql('from', from, "interval '-29 days'")} AS starts, ${boundSql('to', to, "interval '1 day'")} AS ends
		)
		SELECT starts AS "from", ends AS "to", CASE
			WHEN extract(epoch FROM ends - starts) <= ${MAX_BUCKETS} * extract(epoch FROM CAST('1 ' || :interval AS interval))
			THEN ARRAY(SELECT start FROM ${startsSql(interval)} ORDER BY start)
		END AS parts FROM bounds WHERE starts AT TIME ZONE :timezone IS NOT NULL`,
		{...(from === null ? {} : {from}), ...(to === null ? {} : {to}), interval, timezone, now},
	);
	const {rows} = await asked.catch(zoneRefused);
	const {parts, ...range} = onlyRow(rows);
	if (range.from >= range.to) {
		throw validationFailed([{message: 'from must be before to', field: 'from'}]);
	}

	if (parts === null) {
		throw validationFailed([{message: `interval must give at most ${MAX_BUCKETS} parts`, field: 'interval'}]);
	}

	return {range, starts: parts};
};

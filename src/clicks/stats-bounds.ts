import {type Db, onlyRow} from '../db/db.ts';
import {validationFailed} from '../errors.ts';

export type Interval = 'hour' | 'day' | 'month';

/** The range of a report. `from` and `to` are half-open; null parts take their defaults. */
export type StatsQuery = {from: string | null; to: string | null; interval: Interval; timezone: string};

/** Half-open. */
export type Range = {from: Date; to: Date};

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

/** The report's bounds as instants; by default the last 30 full days including today. @throws 400. */
export const readBounds = async (db: Db, {from, to, interval, timezone}: StatsQuery, now: Date): Promise<Range> => {
	const asked = db.raw<{rows: Array<Range & {buckets: number}>}>(
		`WITH bounds AS (
			SELECT ${boundSql('from', from, "interval '-29 days'")} AS starts, ${boundSql('to', to, "interval '1 day'")} AS ends
		)
		SELECT starts AS "from", ends AS "to", CAST(
			extract(epoch FROM ends - starts) / extract(epoch FROM CAST('1 ' || :interval AS interval)) AS float8) AS buckets
		FROM bounds WHERE starts AT TIME ZONE :timezone IS NOT NULL`,
		{...(from === null ? {} : {from}), ...(to === null ? {} : {to}), interval, timezone, now},
	);
	const {rows} = await asked.catch(zoneRefused);
	const {buckets, ...range} = onlyRow(rows);
	if (range.from >= range.to) {
		throw validationFailed([{message: 'from must be before to', field: 'from'}]);
	}

	if (buckets > MAX_BUCKETS) {
		throw validationFailed([{message: `interval must give at most ${MAX_BUCKETS} parts`, field: 'interval'}]);
	}

	return range;
};

/** Bucket starts without gaps. Hours are stepped as instants, so that none is lost or doubled at clock changes. */
export const readStarts = async (
	db: Db,
	range: Range,
	{interval, timezone}: Pick<StatsQuery, 'interval' | 'timezone'>,
): Promise<Date[]> => {
	const series =
		interval === 'hour'
			? `generate_series(date_trunc('hour', CAST(:from AS timestamptz), :timezone),
				CAST(:to AS timestamptz) - interval '1 microsecond', '1 hour') AS start`
			: `(SELECT local AT TIME ZONE :timezone AS start FROM generate_series(
				date_trunc(:interval, CAST(:from AS timestamptz) AT TIME ZONE :timezone),
				(CAST(:to AS timestamptz) - interval '1 microsecond') AT TIME ZONE :timezone,
				CAST('1 ' || :interval AS interval)) AS local) AS starts`;
	const {rows} = await db.raw<{rows: Array<{start: Date}>}>(`SELECT start FROM ${series} ORDER BY start`, {
		...range,
		interval,
		timezone,
	});
	return rows.map(({start}) => start);
};

import {type Db, onlyRow} from '../db/db.ts';
import {validationFailed} from '../errors.ts';

export type Interval = 'hour' | 'day' | 'month';

/** What a report covers. `from` and `to` are half-open; a part that is null takes its default. */
export type StatsQuery = {from: string | null; to: string | null; interval: Interval; timezone: string};

export type Count = {key: string | null; count: number};
export type Stats = {
	from: Date;
	to: Date;
	interval: Interval;
	totals: {clicks: number; crawlerViews: number; matches: number; events: number};
	series: Array<{start: Date; clicks: number; matches: number; events: number}>;
	breakdowns: Record<'platform' | 'country' | 'channel' | 'referrer' | 'link' | 'matchMethod', Count[]>;
};

/** Longest series that is answered, and longest list of a breakdown. */
const MAX_BUCKETS = 10_000;
const TOP = 20;

type Bounds = {from: Date; to: Date; buckets: number};

const HAS_OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** A bound as SQL: a date or a time without an offset is of the caller's timezone. `CAST`, because knex reads `:x::` otherwise. */
const boundSql = (name: 'from' | 'to', text: string | null, fallback: string): string => {
	if (text === null) {
		return `(date_trunc('day', CAST(:now AS timestamptz) AT TIME ZONE :timezone) + ${fallback}) AT TIME ZONE :timezone`;
	}

	return HAS_OFFSET.test(text.slice(10))
		? `CAST(:${name} AS timestamptz)`
		: `CAST(:${name} AS timestamp) AT TIME ZONE :timezone`;
};

/** The report's bounds as instants; by default the last 30 days with today, whole. */
const readBounds = async (db: Db, {from, to, interval, timezone}: StatsQuery, now: Date): Promise<Bounds> => {
	const {rows} = await db.raw<{rows: Bounds[]}>(
		`WITH bounds AS (
			SELECT ${boundSql('from', from, "interval '-29 days'")} AS starts, ${boundSql('to', to, "interval '1 day'")} AS ends
		)
		SELECT starts AS "from", ends AS "to", CAST(
			extract(epoch FROM ends - starts) / extract(epoch FROM CAST('1 ' || :interval AS interval)) AS float8) AS buckets
		FROM bounds`,
		{...(from === null ? {} : {from}), ...(to === null ? {} : {to}), interval, timezone, now},
	);
	return onlyRow(rows);
};

/** Bucket starts without gaps. Hours are stepped as instants, so that none is lost or doubled when clocks change. */
const bucketSeries = (interval: Interval): string =>
	interval === 'hour'
		? `generate_series(date_trunc('hour', CAST(:from AS timestamptz), :timezone),
				CAST(:to AS timestamptz) - interval '1 microsecond', '1 hour') AS start`
		: `(SELECT local AT TIME ZONE :timezone AS start FROM generate_series(
				date_trunc(:interval, CAST(:from AS timestamptz) AT TIME ZONE :timezone),
				(CAST(:to AS timestamptz) - interval '1 microsecond') AT TIME ZONE :timezone,
				CAST('1 ' || :interval AS interval)) AS local) AS starts`;

type Scope = {organizationId: string; linkId: string | null};

/** Clicks, matches and events of an organization, or of one of its links, computed in the database. @throws 400. */
export const readStats = async (
	db: Db,
	{organizationId, linkId}: Scope,
	query: StatsQuery,
	now: Date,
): Promise<Stats> => {
	const {interval, timezone} = query;
	const {from, to, buckets} = await readBounds(db, query, now);
	if (from >= to) {
		throw validationFailed([{message: 'from must be before to', field: 'from'}]);
	}

	if (buckets > MAX_BUCKETS) {
		throw validationFailed([{message: `interval must give at most ${MAX_BUCKETS} parts`, field: 'interval'}]);
	}

	const bindings = {organizationId, linkId, from, to, interval, timezone};
	const scope = (time: string) =>
		`organization_id = :organizationId AND ${time} >= :from AND ${time} < :to${linkId === null ? '' : ' AND link_id = :linkId'}`;

	type ClickRow = {grouping: number; start: Date | null; key: string | null; count: number};
	// One scan for the series and every breakdown; GROUPING tells which of them a row belongs to.
	const clicks = db.raw<{rows: ClickRow[]}>(
		`SELECT grouping(start, platform, country, channel, referrer_host, link_id) AS grouping, start,
			coalesce(platform, country, channel, referrer_host, CAST(link_id AS text)) AS key, CAST(count(*) AS float8) AS count
		FROM (SELECT date_trunc(:interval, occurred_at, :timezone) AS start, platform, country, channel, referrer_host, link_id
			FROM clicks WHERE ${scope('occurred_at')} AND bot_class IS NULL) AS people
		GROUP BY GROUPING SETS ((start), (platform), (country), (channel), (referrer_host), (link_id))`,
		bindings,
	);
	const crawlerViews = db.raw<{rows: Array<{count: number}>}>(
		`SELECT CAST(count(*) AS float8) AS count FROM clicks WHERE ${scope('occurred_at')} AND bot_class IS NOT NULL`,
		bindings,
	);
	type MatchRow = {start: Date; method: string; count: number};
	const matches = db.raw<{rows: MatchRow[]}>(
		`SELECT date_trunc(:interval, at, :timezone) AS start, method, CAST(count(*) AS float8) AS count
		FROM match_attempts WHERE ${scope('at')} AND matched GROUP BY 1, 2`,
		bindings,
	);
	type EventRow = {start: Date; count: number};
	const events = db.raw<{rows: EventRow[]}>(
		`SELECT date_trunc(:interval, occurred_at, :timezone) AS start, CAST(count(*) AS float8) AS count
		FROM events WHERE ${scope('occurred_at')} GROUP BY 1`,
		bindings,
	);
	const starts = db.raw<{rows: Array<{start: Date}>}>(
		`SELECT start FROM ${bucketSeries(interval)} ORDER BY start`,
		bindings,
	);

	const [clickRows, crawlerRows, matchRows, eventRows, startRows] = (
		await Promise.all([clicks, crawlerViews, matches, events, starts])
	).map(({rows}) => rows) as [ClickRow[], Array<{count: number}>, MatchRow[], EventRow[], Array<{start: Date}>];

	// Bits of GROUPING: 0 where the column is the group's. The first argument is the highest of the six.
	const of = (column: number) => clickRows.filter((row) => row.grouping === 0b111111 - (1 << (5 - column)));
	const sumBy = <T extends {count: number}>(rows: T[], key: (row: T) => string) => {
		const sums = new Map<string, number>();
		for (const row of rows) {
			sums.set(key(row), (sums.get(key(row)) ?? 0) + row.count);
		}

		return sums;
	};
	const total = (rows: Array<{count: number}>) => rows.reduce((sum, {count}) => sum + count, 0);
	const top = (rows: Array<{key: string | null; count: number}>): Count[] =>
		rows
			.map(({key, count}) => ({key, count}))
			.toSorted((a, b) => b.count - a.count || String(a.key).localeCompare(String(b.key)))
			.slice(0, TOP);
	const time = (row: {start: Date | null}) => String(row.start?.getTime());
	const [clicksAt, matchesAt, eventsAt] = [sumBy(of(0), time), sumBy(matchRows, time), sumBy(eventRows, time)];
	const methods = sumBy(matchRows, ({method}) => method);

	return {
		from,
		to,
		interval,
		totals: {
			clicks: total(of(0)),
			crawlerViews: total(crawlerRows),
			matches: total(matchRows),
			events: total(eventRows),
		},
		series: startRows.map((row) => ({
			start: row.start,
			clicks: clicksAt.get(time(row)) ?? 0,
			matches: matchesAt.get(time(row)) ?? 0,
			events: eventsAt.get(time(row)) ?? 0,
		})),
		breakdowns: {
			platform: top(of(1)),
			country: top(of(2)),
			channel: top(of(3)),
			referrer: top(of(4)),
			link: top(of(5)),
			matchMethod: top([...methods].map(([key, count]) => ({key, count}))),
		},
	};
};

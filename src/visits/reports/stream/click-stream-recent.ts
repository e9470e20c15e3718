import {MINUTE_MS} from '../../../platform/clock.ts';
import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {readSnapshot, type Snapshot} from '../../../platform/db/new-rows.ts';
import {execute, run, type Sql, sql} from '../../../platform/db/sql.ts';
import type {StreamEvent} from './click-stream-store.ts';

type Count = {key: string | null; count: number};

/** The first event of a stream: figures of the last hour, for people's clicks unless noted. */
export type RecentFigures = {
	/** The time of the reading, by the service's clock. */
	at: Date;
	/** Clicks per second of the last 60 seconds, and per minute of the last 60 minutes; the last bucket contains `at`. */
	perSecond: number[];
	perMinute: number[];
	crawlerViews: number;
	/** Events sent by apps. */
	events: number;
	/** The most clicked first, at most 20. */
	links: Array<{
		organization: {id: string; orgKey: string; name: string};
		link: {id: string; shortCode: string | null; title: string | null};
		count: number;
	}>;
	platforms: Count[];
	/** Match attempts by method; `NONE`: no match. */
	matches: Count[];
	/** The last 20 events of any age, newest first. */
	latest: StreamEvent[];
};

/** The store of the clicks of the last hour. */
export type RecentClicks = {
	/**
	 * An item of a FROM: `occurred_at`, `platform`, `organization_id`, `link_id`, `is_bot` and `count`.
	 * @param own the condition on `organizations`.
	 */
	since(trx: Db, own: Sql, range: {organizationId: string | null; since: Date}): Promise<Sql>;
	/** The newest events of all types, newest first. */
	latest(trx: Db, wanted: {organizationId: string | null; limit: number; now: Date}): Promise<StreamEvent[]>;
};

const BUCKETS = 60;
const TOP = 20;

type Bucket = {ago: number; count: number};
type Row = Omit<RecentFigures, 'at' | 'perSecond' | 'perMinute' | 'latest'> & {seconds: Bucket[]; minutes: Bucket[]};

/** Full buckets of `size` seconds between a click and now, by the calendar. A time in the future counts as now. */
const ago = (size: Sql, now: Date): Sql => {
	const bucket = (seconds: Sql) => sql`floor(${seconds} / ${size})`;
	const passed = sql`${bucket(sql`${now.getTime() / 1000}::float8`)} - ${bucket(sql`extract(epoch FROM occurred_at)`)}`;
	return sql`greatest(0, CAST(${passed} AS int))`;
};

const aggregated = (select: Sql): Sql =>
	sql`(SELECT coalesce(json_agg(row_to_json(counted)), '[]') FROM (${select}) AS counted)`;

/** One organization at a time, because the indexes on time begin with the organization. */
export const sinceThen = (table: Sql, since: Sql, own: Sql): Sql =>
	sql`organizations CROSS JOIN LATERAL (
		SELECT * FROM ${table} WHERE organization_id = organizations.id AND ${since}
	) AS found ${own}`;

/** A number for each bucket, oldest first. */
const series = (counts: Bucket[]): number[] => {
	const byAgo = new Map(counts.map(({ago: index, count}) => [index, count]));
	return Array.from({length: BUCKETS}, (_, index) => byAgo.get(BUCKETS - 1 - index) ?? 0);
};

/** @param visits, own like those of `RecentClicks`. */
const figuresOf = (visits: Sql, own: Sql, {since, now}: {since: Date; now: Date}): Sql =>
	// Counted once, at the finest granularity used below, because there may be many rows.
	sql`WITH visits AS MATERIALIZED (
			SELECT ${ago(sql`60`, now)} AS minute, CASE WHEN ${ago(sql`1`, now)} < ${BUCKETS} THEN ${ago(sql`1`, now)} END AS second,
				platform, organization_id, link_id, is_bot, sum(count) AS count
			FROM ${visits} AS clicks GROUP BY 1, 2, 3, 4, 5, 6
		), people AS (SELECT * FROM visits WHERE NOT is_bot),
		top AS (
			SELECT organization_id, link_id, sum(count) AS count FROM people GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT ${TOP}
		)
		SELECT
			${aggregated(sql`SELECT second AS ago, sum(count) AS count FROM people WHERE second IS NOT NULL GROUP BY 1`)} AS seconds,
			${aggregated(sql`SELECT minute AS ago, sum(count) AS count FROM people GROUP BY 1`)} AS minutes,
			(SELECT CAST(coalesce(sum(count), 0) AS float8) FROM visits WHERE is_bot) AS "crawlerViews",
			(SELECT CAST(count(*) AS float8) FROM ${sinceThen(sql`events`, sql`occurred_at >= ${since}`, own)}) AS events,
			${aggregated(sql`SELECT
				json_build_object('id', organizations.id, 'orgKey', org_key, 'name', name) AS organization,
				json_build_object('id', top.link_id, 'shortCode', short_code, 'title', title) AS link, count
				FROM top JOIN organizations ON organizations.id = top.organization_id
				LEFT JOIN links ON links.id = top.link_id ORDER BY count DESC, top.link_id`)} AS links,
			${aggregated(sql`SELECT platform AS key, sum(count) AS count FROM people GROUP BY 1 ORDER BY 2 DESC, 1`)} AS platforms,
			${aggregated(sql`SELECT method AS key, count(*) AS count
				FROM ${sinceThen(sql`match_attempts`, sql`at >= ${since}`, own)} GROUP BY 1 ORDER BY 2 DESC, 1`)} AS matches`;

/**
 * The last hour, of one organization or of all, and its snapshot. The stream continues from that snapshot without gaps
 * or repetitions.
 */
export const readRecent = (
	db: Db,
	organizationId: string | null,
	now: Date,
	clicks: RecentClicks,
): Promise<{recent: RecentFigures; snapshot: Snapshot}> =>
	db.transaction(
		async (trx) => {
			// JIT compilation takes longer than the statement runs.
			await execute(trx, sql`SELECT set_config('jit', 'off', true)`);
			const snapshot = await readSnapshot(trx);
			const since = new Date((Math.floor(now.getTime() / MINUTE_MS) - BUCKETS + 1) * MINUTE_MS);
			const own = organizationId === null ? sql`` : sql`WHERE organizations.id = ${organizationId}`;
			const visits = await clicks.since(trx, own, {organizationId, since});
			const {seconds, minutes, ...figures} = onlyRow(await run<Row>(trx, figuresOf(visits, own, {since, now})));
			const recent = {
				at: now,
				perSecond: series(seconds),
				perMinute: series(minutes),
				...figures,
				latest: await clicks.latest(trx, {organizationId, limit: TOP, now}),
			};
			return {recent, snapshot};
		},
		{isolationLevel: 'repeatable read', readOnly: true},
	);

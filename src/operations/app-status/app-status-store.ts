import type {AppCount} from '../../platform/app-requests/app-request.ts';
import {platformSql, sharedFetch} from '../../platform/app-requests/app-request-store.ts';
import {DAY_MS, HOUR_MS} from '../../platform/clock.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {execute, run, type Sql, script, sql} from '../../platform/db/sql.ts';
import type {MissReason} from '../../visits/matches/guess.ts';

export type Platform = 'ios' | 'android' | 'unknown';

/** Requests that were counted, by kind, platform, and version or limit. */
export type Counted = {kind: AppCount; platform: Platform; detail: string; count: number; lastAt: Date};

/** First opens that ended alike. `version`: that of the device's session; null: unknown. */
export type FirstOpens = {
	platform: Platform;
	version: string | null;
	hasToken: boolean;
	outcome: 'token' | 'guess' | MissReason;
	count: number;
	lastAt: Date;
};

/** The part of the app configuration that decides what an app has to send. */
export type Configured = {
	platforms: Array<'ios' | 'android'>;
	allowsGuesses: boolean;
	changedAt: Date | null;
	createdAt: Date;
	/** When the association file of each was last fetched, on the shared domain or the organization's own. */
	fetched: {ios: Date | null; android: Date | null};
};

type Scope = {organizationId: string; since: Date};

const KINDS: readonly AppCount[] = [
	'session',
	'sdk',
	'data',
	'data_not_found',
	'event',
	'unknown_device',
	'wrong_key',
	'foreign_key',
	'limit',
];

const countedSince = (since: Date): Sql =>
	sql`hour > ${new Date(since.getTime() - HOUR_MS)}::timestamptz AND last_at >= ${since}::timestamptz`;

export const readCounts = (db: Db, {organizationId, since}: Scope): Promise<Counted[]> =>
	run(
		db,
		sql`SELECT kind, platform, detail, sum(count)::float8 AS count, max(last_at) AS "lastAt" FROM app_counts
		WHERE organization_id = ${organizationId} AND kind = ANY(${KINDS}) AND ${countedSince(since)}
		GROUP BY kind, platform, detail ORDER BY kind, platform, 4 DESC, detail`,
	);

const platformOfAttempt = script(
	`coalesce(${platformSql("signals ->> 'platform'")}, ${platformSql('devices.platform')}, agent_platform, 'unknown')`,
);

/** An attempt's outcome, and the version of its device's session, which a later update of the app would change. */
const attempts = (organizationId: string, range: Sql): Sql => sql`
	SELECT ${platformOfAttempt} AS platform, app_version AS version, has_token AS "hasToken", CASE
			WHEN matched THEN CASE WHEN method IN ('CLIPBOARD', 'INSTALL_REFERRER') THEN 'token' ELSE 'guess' END
			ELSE reason END AS outcome, at
	FROM match_attempts LEFT JOIN devices
		ON devices.organization_id = match_attempts.organization_id AND devices.device_id = match_attempts.device_id
	WHERE match_attempts.organization_id = ${organizationId} AND ${range}`;

/** Up to when an organization's first opens are counted; null if none are. */
export const readCountedUntil = async (db: Db, organizationId: string): Promise<Date | null> => {
	const own = {organization_id: organizationId};
	const row: {counted_until: Date} | undefined = await db('app_first_opens').where(own).first('counted_until');
	return row?.counted_until ?? null;
};

/** First opens of the last hour are read from their rows: a session may still tell the version. */
const countableUntil = (now: Date): Date => new Date(Math.floor(now.getTime() / HOUR_MS - 1) * HOUR_MS);

/** Organizations with first opens that can be counted, and the time of the first of them. */
const listUncounted = (db: Db, oldest: Date, until: Date): Promise<Array<{id: string; at: Date}>> =>
	run(
		db,
		sql`SELECT organizations.id, uncounted.at FROM organizations
		LEFT JOIN app_first_opens ON app_first_opens.organization_id = organizations.id
		CROSS JOIN LATERAL (
			SELECT at FROM match_attempts WHERE organization_id = organizations.id
				AND at >= coalesce(counted_until, ${oldest}::timestamptz) AND at < ${until}::timestamptz
			ORDER BY at LIMIT 1
		) AS uncounted ORDER BY organizations.id`,
	);

/** Counts an organization's first opens between two whole hours, unless another process has counted them. */
const countBetween = (db: Db, organizationId: string, {from, until}: {from: Date; until: Date}): Promise<void> =>
	inTransaction(db, async (trx) => {
		await execute(
			trx,
			sql`INSERT INTO app_first_opens (organization_id, counted_until)
			SELECT id, ${from}::timestamptz FROM organizations WHERE id = ${organizationId} FOR KEY SHARE
			ON CONFLICT DO NOTHING`,
		);
		const own = {organization_id: organizationId};
		const locked: {counted_until: Date} | undefined = await trx('app_first_opens').where(own).forUpdate().first();
		if (locked === undefined || locked.counted_until > from) {
			return;
		}

		await execute(
			trx,
			sql`INSERT INTO app_counts (organization_id, kind, hour, platform, detail, count, last_at)
			SELECT ${organizationId}::uuid, 'first_open', date_trunc('hour', at, 'UTC'), platform,
				json_build_array("hasToken", outcome, version)::text, count(*), max(at)
			FROM (${attempts(organizationId, sql`at >= ${from}::timestamptz AND at < ${until}::timestamptz`)}) AS opens
			GROUP BY 3, 4, 5 ON CONFLICT DO NOTHING`,
		);
		await trx('app_first_opens').where(own).update({counted_until: until});
	});

/**
 * Counts the first opens of whole hours, a day at most in a transaction: the cost of a status then does not depend on
 * their number.
 * @param oldest the start of the retention of counts. @param isStopping ends the run between two transactions.
 */
export const countFirstOpens = async (
	db: Db,
	{oldest, now, isStopping}: {oldest: Date; now: Date; isStopping: () => boolean},
): Promise<void> => {
	const until = countableUntil(now);
	let uncounted = await listUncounted(db, oldest, until);
	while (uncounted.length > 0 && !isStopping()) {
		for (const {id, at} of uncounted) {
			const from = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
			await countBetween(db, id, {from, until: new Date(Math.min(from.getTime() + DAY_MS, until.getTime()))});
		}

		uncounted = await listUncounted(db, oldest, until);
	}
};

/** @param countedUntil as `readCountedUntil` returns it; null: all are read from their rows. */
export const readFirstOpens = (
	db: Db,
	{organizationId, since, countedUntil}: Scope & {countedUntil: Date | null},
): Promise<FirstOpens[]> =>
	run(
		db,
		sql`SELECT platform, detail ->> 2 AS version, (detail ->> 0)::boolean AS "hasToken", detail ->> 1 AS outcome,
			sum(count)::float8 AS count, max(last_at) AS "lastAt"
		FROM (
			SELECT platform, detail::json AS detail, count, last_at FROM app_counts
			WHERE organization_id = ${organizationId} AND kind = 'first_open' AND ${countedSince(since)}
			UNION ALL SELECT platform, json_build_array("hasToken", outcome, version), 1, at
			FROM (${attempts(organizationId, sql`at >= greatest(${countedUntil}::timestamptz, ${since}::timestamptz)`)}) AS opens
		) AS counted GROUP BY 1, 2, 3, 4`,
	);

/** A complete iOS configuration has both ids. */
export const readConfigured = async (db: Db, organizationId: string): Promise<Configured> => {
	const [row] = await run<{
		hasIos: boolean;
		hasAndroid: boolean;
		allowsGuesses: boolean;
		changedAt: Date | null;
		createdAt: Date;
		ios: Date | null;
		android: Date | null;
	}>(
		db,
		sql`SELECT coalesce(app_configs.ios ->> 'bundleId' IS NOT NULL AND app_configs.ios ->> 'teamId' IS NOT NULL, false) AS "hasIos",
			coalesce(jsonb_array_length(app_configs.android) > 0, false) AS "hasAndroid",
			coalesce(probabilistic_matching, true) AS "allowsGuesses", app_configs.updated_at AS "changedAt",
			organizations.created_at AS "createdAt", greatest(own.ios, shared.ios) AS ios,
			greatest(own.android, shared.android) AS android
		FROM organizations LEFT JOIN app_configs ON app_configs.organization_id = organizations.id CROSS JOIN LATERAL (
			SELECT max(last_at) FILTER (WHERE platform = 'ios') AS ios, max(last_at) FILTER (WHERE platform = 'android') AS android
			FROM app_counts WHERE organization_id = organizations.id AND kind = 'fetched'
		) AS own CROSS JOIN LATERAL (
			SELECT max((value #>> '{}')::timestamptz) FILTER (WHERE name = ${sharedFetch('ios')}) AS ios,
				max((value #>> '{}')::timestamptz) FILTER (WHERE name = ${sharedFetch('android')}) AS android
			FROM settings WHERE name IN (${sharedFetch('ios')}, ${sharedFetch('android')})
		) AS shared
		WHERE organizations.id = ${organizationId}`,
	);
	const {hasIos = false, hasAndroid = false, ios = null, android = null} = row ?? {};
	return {
		platforms: [...(hasIos ? (['ios'] as const) : []), ...(hasAndroid ? (['android'] as const) : [])],
		allowsGuesses: row?.allowsGuesses ?? true,
		changedAt: row?.changedAt ?? null,
		createdAt: row?.createdAt ?? new Date(0),
		fetched: {ios, android},
	};
};

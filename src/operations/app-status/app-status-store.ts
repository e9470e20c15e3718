import type {AppCount} from '../../platform/app-requests/app-request.ts';
import {platformSql, sharedFetch} from '../../platform/app-requests/app-request-store.ts';
import {HOUR_MS} from '../../platform/clock.ts';
import type {Db} from '../../platform/db/db.ts';
import {run, script, sql} from '../../platform/db/sql.ts';
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

export const readCounts = (db: Db, {organizationId, since}: Scope): Promise<Counted[]> =>
	run(
		db,
		sql`SELECT kind, platform, detail, sum(count)::float8 AS count, max(last_at) AS "lastAt" FROM app_counts
		WHERE organization_id = ${organizationId} AND kind = ANY(${KINDS}) AND hour > ${new Date(since.getTime() - HOUR_MS)}
			AND last_at >= ${since}::timestamptz
		GROUP BY kind, platform, detail ORDER BY kind, platform, 4 DESC, detail`,
	);

const platformOfAttempt = script(
	`coalesce(${platformSql("signals ->> 'platform'")}, ${platformSql('devices.platform')}, agent_platform, 'unknown')`,
);

export const readFirstOpens = (db: Db, {organizationId, since}: Scope): Promise<FirstOpens[]> =>
	run(
		db,
		sql`SELECT ${platformOfAttempt} AS platform, app_version AS version, has_token AS "hasToken", CASE
				WHEN matched THEN CASE WHEN method IN ('CLIPBOARD', 'INSTALL_REFERRER') THEN 'token' ELSE 'guess' END
				ELSE reason END AS outcome, count(*)::float8 AS count, max(at) AS "lastAt"
		FROM match_attempts LEFT JOIN devices
			ON devices.organization_id = match_attempts.organization_id AND devices.device_id = match_attempts.device_id
		WHERE match_attempts.organization_id = ${organizationId} AND at >= ${since}::timestamptz
		GROUP BY 1, 2, 3, 4`,
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

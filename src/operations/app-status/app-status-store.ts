import {type AppCount, appCounts} from '../../platform/app-requests/app-request.ts';
import {platformOf, sharedFetch} from '../../platform/app-requests/app-request-store.ts';
import {DAY_MS, HOUR_MS} from '../../platform/clock.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {execute, run, type Sql, sql} from '../../platform/db/sql.ts';

export type Platform = 'ios' | 'android' | 'unknown';

/** Requests that count together. `detail`: a version, a limit, or a first open's `[hasToken, outcome, version]` as JSON. */
export type RequestCount = {
	kind: AppCount | 'first_open';
	platform: Platform;
	detail: string;
	count: number;
	lastAt: Date;
};

/** The part of the app configuration that decides what an app has to send. */
export type Configured = {
	platforms: Array<'ios' | 'android'>;
	allowsGuesses: boolean;
	changedAt: Date | null;
	/** When the association file of each was last fetched, on the shared domain or the organization's own. */
	ios: Date | null;
	android: Date | null;
};

/** First opens as counts of one, with the version of the device's session, which a later update of the app would change. */
const firstOpens = (organizationId: string, range: Sql): Sql => sql`
	SELECT ${platformOf("signals ->> 'platform'", 'devices.platform', 'agent_platform')} AS platform, json_build_array(has_token, CASE
			WHEN matched THEN CASE WHEN method IN ('CLIPBOARD', 'INSTALL_REFERRER') THEN 'token' ELSE 'guess' END
			ELSE reason END, app_version)::text AS detail, 1 AS count, at
	FROM match_attempts LEFT JOIN devices
		ON devices.organization_id = match_attempts.organization_id AND devices.device_id = match_attempts.device_id
	WHERE match_attempts.organization_id = ${organizationId} AND ${range}`;

/** Up to when an organization's first opens are counted; null if none are. */
export const readCountedUntil = async (db: Db, organizationId: string): Promise<Date | null> => {
	const own = {organization_id: organizationId};
	const row: {counted_until: Date} | undefined = await db('app_first_opens').where(own).first('counted_until');
	return row?.counted_until ?? null;
};

/** @param countedUntil as `readCountedUntil` returns it: later first opens are read from their rows. */
export const readCounts = (
	db: Db,
	{organizationId, since, countedUntil}: {organizationId: string; since: Date; countedUntil: Date | null},
): Promise<RequestCount[]> =>
	run(
		db,
		sql`SELECT kind, platform, detail, sum(count)::float8 AS count, max(last_at) AS "lastAt" FROM (
			SELECT kind, platform, detail, count, last_at FROM app_counts
			WHERE organization_id = ${organizationId} AND kind = ANY(${[...appCounts, 'first_open']})
				AND hour > ${new Date(since.getTime() - HOUR_MS)}::timestamptz AND last_at >= ${since}::timestamptz
				AND (kind <> 'first_open' OR hour < ${countedUntil}::timestamptz)
			UNION ALL SELECT 'first_open', opens.*
			FROM (${firstOpens(organizationId, sql`at >= greatest(${countedUntil}::timestamptz, ${since}::timestamptz)`)}) AS opens
		) AS counted GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3`,
	);

/** Organizations with first opens that can be counted, and the hour of the first of them. */
const listUncounted = (db: Db, oldest: Date, until: Date): Promise<Array<{id: string; hour: Date}>> =>
	run(
		db,
		sql`SELECT organizations.id, date_trunc('hour', at, 'UTC') AS hour FROM organizations
		LEFT JOIN app_first_opens ON app_first_opens.organization_id = organizations.id
		CROSS JOIN LATERAL (
			SELECT at FROM match_attempts WHERE organization_id = organizations.id
				AND at >= coalesce(counted_until, ${oldest}::timestamptz) AND at < ${until}::timestamptz
			ORDER BY at LIMIT 1
		) AS uncounted ORDER BY organizations.id`,
	);

/** Counts an organization's first opens between two whole hours, unless another process has counted them. */
const countBetween = (db: Db, organizationId: string, {from, until}: {from: Date; until: Date}): Promise<number> =>
	execute(
		db,
		sql`WITH claimed AS (
			INSERT INTO app_first_opens AS known (organization_id, counted_until)
			SELECT id, ${until}::timestamptz FROM organizations WHERE id = ${organizationId} FOR KEY SHARE
			ON CONFLICT (organization_id) DO UPDATE SET counted_until = excluded.counted_until
				WHERE known.counted_until <= ${from}::timestamptz
			RETURNING organization_id
		)
		INSERT INTO app_counts (organization_id, kind, hour, platform, detail, count, last_at)
		SELECT ${organizationId}::uuid, 'first_open', date_trunc('hour', at, 'UTC'), platform, detail, sum(count), max(at)
		FROM (${firstOpens(organizationId, sql`at >= ${from}::timestamptz AND at < ${until}::timestamptz`)}) AS opens
		WHERE EXISTS (SELECT FROM claimed) GROUP BY 3, 4, 5`,
	);

/**
 * Counts the first opens of whole hours, a day at most in a statement: the cost of a status then does not depend on their
 * number. Those of the last hour are read from their rows, because a session may still tell the version.
 * @param oldest the start of the retention of counts. @param isStopping ends the run between two statements.
 */
export const countFirstOpens = async (
	db: Db,
	{oldest, now, isStopping}: {oldest: Date; now: Date; isStopping: () => boolean},
): Promise<void> => {
	const end = Math.floor(now.getTime() / HOUR_MS - 1) * HOUR_MS;
	let uncounted = await listUncounted(db, oldest, new Date(end));
	while (uncounted.length > 0 && !isStopping()) {
		for (const {id, hour} of uncounted) {
			await countBetween(db, id, {from: hour, until: new Date(Math.min(hour.getTime() + DAY_MS, end))});
		}

		uncounted = await listUncounted(db, oldest, new Date(end));
	}
};

/** When the migration of the tables ran: before it, a server of 1.0.0 counted nothing. */
export const readCountedSince = async (db: Db): Promise<Date> =>
	onlyRow(await db('migrations').where({name: '20261122001800_app_status'}).select({at: 'migration_time'})).at;

/** A complete iOS configuration has both ids. */
export const readConfigured = async (db: Db, organizationId: string): Promise<Configured> =>
	onlyRow(
		await run<Configured>(
			db,
			sql`SELECT array_remove(ARRAY[
					CASE WHEN app_configs.ios ->> 'bundleId' IS NOT NULL AND app_configs.ios ->> 'teamId' IS NOT NULL THEN 'ios' END,
					CASE WHEN jsonb_array_length(app_configs.android) > 0 THEN 'android' END
				], NULL) AS platforms,
				coalesce(probabilistic_matching, true) AS "allowsGuesses", updated_at AS "changedAt",
				greatest(own.ios, shared.ios) AS ios, greatest(own.android, shared.android) AS android
			FROM (
				SELECT max(last_at) FILTER (WHERE platform = 'ios') AS ios, max(last_at) FILTER (WHERE platform = 'android') AS android
				FROM app_counts WHERE organization_id = ${organizationId} AND kind = 'fetched'
			) AS own CROSS JOIN (
				SELECT max((value #>> '{}')::timestamptz) FILTER (WHERE name = ${sharedFetch('ios')}) AS ios,
					max((value #>> '{}')::timestamptz) FILTER (WHERE name = ${sharedFetch('android')}) AS android
				FROM settings WHERE name IN (${sharedFetch('ios')}, ${sharedFetch('android')})
			) AS shared LEFT JOIN app_configs ON app_configs.organization_id = ${organizationId}`,
		),
	);

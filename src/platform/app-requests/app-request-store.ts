import type {Db} from '../db/db.ts';
import {execute, run, type Sql, script, sql} from '../db/sql.ts';
import type {AppRequest} from './app-request.ts';

/** The organization and the device of a request. */
export type Sender = {
	organizationId: string | null;
	orgKey: string | null;
	platform: string | null;
	agentPlatform: string | null;
	deviceId: string | null;
};

/** Requests of an hour that count together. `deviceId`: only if the platform is unknown. */
export type CountedRequests = Sender & {kind: string; detail: string; hour: Date; count: number; lastAt: Date};

/** A request to show. */
export type ShownRequest = Sender & NonNullable<AppRequest['live']> & {id: string; at: Date};

/** Maximum versions that an hour keeps of a kind: anybody with the public CLIENT key can invent one. */
const MAX_DETAILS = 100;

/** The first `ios` or `android` in these expressions, however an app spells it, else `unknown`. */
export const platformOf = (...platforms: string[]): Sql => {
	const known = platforms.map((one) => `CASE lower(${one}) WHEN 'ios' THEN 'ios' WHEN 'android' THEN 'android' END`);
	return script(`coalesce(${known.join(', ')}, 'unknown')`);
};

const knownPlatform = platformOf('sent.platform', 'devices.platform', 'sent."agentPlatform"');
const ownerAndDevice = sql`
	JOIN organizations ON organizations.id = coalesce(sent."organizationId",
		(SELECT id FROM organizations AS named WHERE named.org_key = sent."orgKey"))
	LEFT JOIN devices ON devices.organization_id = organizations.id AND devices.device_id = sent."deviceId"`;

/** Adds the counts. Locks organizations first, as a removal does; those of deleted or unknown ones are omitted. */
export const addCounts = (db: Db, counts: readonly CountedRequests[]): Promise<number> =>
	execute(
		db,
		sql`INSERT INTO app_counts AS known (organization_id, kind, hour, platform, detail, count, last_at)
		WITH owned AS MATERIALIZED (
			SELECT organizations.id AS organization_id, kind, hour, ${knownPlatform} AS platform, detail, count, "lastAt" AS last_at
			FROM json_to_recordset(${JSON.stringify(counts)}::json) AS sent ("organizationId" uuid, "orgKey" text, kind text,
				detail text, platform text, "agentPlatform" text, "deviceId" text, hour timestamptz, count bigint, "lastAt" timestamptz)
			${ownerAndDevice} ORDER BY 1 FOR KEY SHARE OF organizations
		), marked AS (
			SELECT owned.*, owned.detail <> '' AND before.detail IS NULL AS is_new
			FROM owned LEFT JOIN app_counts AS before USING (organization_id, kind, hour, platform, detail)
		), placed AS (
			SELECT marked.*, is_new AND dense_rank() OVER (PARTITION BY organization_id, kind, hour, is_new ORDER BY platform, detail) + (
				SELECT count(*) FROM app_counts AS before WHERE is_new AND before.organization_id = marked.organization_id
					AND before.kind = marked.kind AND before.hour = marked.hour
			) > ${MAX_DETAILS} AS is_over FROM marked
		)
		SELECT organization_id, kind, hour, platform, CASE WHEN is_over THEN 'other' ELSE detail END, sum(count), max(last_at)
		FROM placed GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
		ON CONFLICT (organization_id, kind, hour, platform, detail) DO UPDATE SET count = known.count + excluded.count,
			last_at = greatest(known.last_at, excluded.last_at)`,
	);

/** Stores the requests of watched organizations for the live stream. */
export const showRequests = (db: Db, requests: readonly ShownRequest[], now: Date): Promise<number> =>
	execute(
		db,
		sql`INSERT INTO app_requests (id, organization_id, at, type, platform, device_id, app_version, sdk_version, text)
		SELECT sent.id, organizations.id, at, type, ${knownPlatform}, "deviceId", coalesce("appVersion", devices.app_version),
			coalesce("sdkVersion", devices.sdk_version), text
		FROM json_to_recordset(${JSON.stringify(requests)}::json) AS sent (id uuid, "organizationId" uuid, "orgKey" text,
			at timestamptz, type text, platform text, "agentPlatform" text, "deviceId" text, "appVersion" text, "sdkVersion" text,
			text text)
		${ownerAndDevice} JOIN app_watches ON app_watches.organization_id = organizations.id AND until > ${now}::timestamptz`,
	);

/** Whether somebody watches the requests of any organization. */
export const isWatching = async (db: Db, now: Date): Promise<boolean> => {
	const [row] = await run<{found: boolean}>(
		db,
		sql`SELECT EXISTS (SELECT FROM app_watches WHERE until > ${now}::timestamptz) AS found`,
	);
	return row?.found ?? false;
};

const WATCH_SECONDS = 60;

/** Watches the requests of an organization for a minute. */
export const watchRequests = async (db: Db, organizationIds: readonly string[], now: Date): Promise<void> => {
	const until = new Date(now.getTime() + WATCH_SECONDS * 1000);
	await execute(
		db,
		sql`INSERT INTO app_watches AS known (organization_id, until)
		SELECT id, ${until}::timestamptz FROM organizations WHERE id = ANY(${organizationIds}::uuid[]) ORDER BY id FOR KEY SHARE
		ON CONFLICT (organization_id) DO UPDATE SET until = greatest(known.until, excluded.until)`,
	);
};

/** The setting with the time at which the shared association file of a system was last fetched. */
export const sharedFetch = (platform: string): string => `fetched.${platform}`;

export const noteSharedFetch = (db: Db, platform: string, at: Date): Promise<number> =>
	execute(
		db,
		sql`INSERT INTO settings (name, value) VALUES (${sharedFetch(platform)}, to_jsonb(${at}::timestamptz))
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	);

import type {Db} from '../../platform/db/db.ts';
import {run, type Sql, sql} from '../../platform/db/sql.ts';
import type {AndroidApp, AppleApp, OwnAppleApp} from './association-files.ts';

/** Columns of an iOS app of `app_configs`, and of its organization. */
export const iosColumns = sql`org_key AS "orgKey", ios->>'teamId' AS "teamId", ios->>'bundleId' AS "bundleId"`;

/** Whether an active organization's configuration is complete for iOS (contract/portal 5). */
export const hasIosApp = sql`organizations.status = 'ACTIVE' AND ios->>'teamId' IS NOT NULL AND ios->>'bundleId' IS NOT NULL`;

/** Whether the organization's plan is one of these. An unknown stored plan counts as none (contract/requests 12). */
export const hasPlan = (plans: readonly string[]): Sql => sql`upper(organizations.plan) = ANY(${plans})`;

const iosApps = (db: Db, condition: Sql): Promise<OwnAppleApp[]> =>
	run(
		db,
		sql`SELECT ${iosColumns}, ios->>'appClipBundleId' AS "appClipBundleId", coalesce(browser_paths, '{}') AS "browserPaths"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id
		WHERE ${hasIosApp} AND ${condition} ORDER BY org_key COLLATE "C"`,
	);

const androidApps = (db: Db, condition: Sql): Promise<AndroidApp[]> =>
	run(
		db,
		sql`SELECT org_key AS "orgKey", app.value->>'packageName' AS "packageName",
			app.value->'sha256Fingerprints' AS "sha256Fingerprints",
			coalesce(CAST(app.value->>'dynamicAppLinks' AS boolean), false) AS "dynamicAppLinks",
			coalesce(browser_paths, '{}') AS "browserPaths"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id,
			jsonb_array_elements(android) WITH ORDINALITY AS app (value, position)
		WHERE organizations.status = 'ACTIVE' AND ${condition} ORDER BY org_key COLLATE "C", position`,
	);

const isOne = (organizationId: string): Sql => sql`organizations.id = ${organizationId}`;
const isAny = (organizationIds: readonly string[]): Sql => sql`organizations.id = ANY(${organizationIds})`;

/** The iOS app of an organization; none while it is suspended or its configuration is incomplete. */
export const iosAppsOf = (db: Db, organizationId: string): Promise<OwnAppleApp[]> => iosApps(db, isOne(organizationId));

/** The Android apps of an organization, as configured; none while it is suspended. */
export const androidAppsOf = (db: Db, organizationId: string): Promise<AndroidApp[]> =>
	androidApps(db, isOne(organizationId));

/** The iOS apps of these organizations that have a place in the shared link domain's file. */
export const sharedIosAppsOf = (db: Db, organizationIds: readonly string[]): Promise<AppleApp[]> =>
	iosApps(db, sql`shared_at IS NOT NULL AND ${isAny(organizationIds)}`);

/**
 * The Android apps in the shared link domain's file: those of active organizations with a plan, by orgKey and in
 * configured order; a package may be repeated.
 * @param organizationIds null for all.
 */
export const listSharedAndroidApps = (
	db: Db,
	plans: readonly string[],
	organizationIds: readonly string[] | null = null,
): Promise<AndroidApp[]> =>
	androidApps(db, organizationIds === null ? hasPlan(plans) : sql`${hasPlan(plans)} AND ${isAny(organizationIds)}`);

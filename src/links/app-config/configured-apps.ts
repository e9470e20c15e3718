import type {Db} from '../../platform/db/db.ts';
import type {AndroidApp, AppleApp, OwnAppleApp} from './association-files.ts';

/** Columns of an iOS app of `app_configs`, and of its organization. */
export const iosColumns = `org_key AS "orgKey", ios->>'teamId' AS "teamId", ios->>'bundleId' AS "bundleId"`;

/** Whether an active organization's configuration is complete for iOS (contract/portal 5). */
export const hasIosApp = `organizations.status = 'ACTIVE' AND ios->>'teamId' IS NOT NULL AND ios->>'bundleId' IS NOT NULL`;

/** Whether the organization's plan is one of `:plans`. An unknown stored plan counts as none (contract/requests 12). */
export const hasPlan = 'upper(organizations.plan) = ANY(:plans)';

const iosApps = async (db: Db, where: string, bindings: Record<string, unknown>): Promise<OwnAppleApp[]> => {
	const {rows} = await db.raw<{rows: OwnAppleApp[]}>(
		`SELECT ${iosColumns}, ios->>'appClipBundleId' AS "appClipBundleId", coalesce(browser_paths, '{}') AS "browserPaths" FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id
		WHERE ${hasIosApp} AND ${where} ORDER BY org_key COLLATE "C"`,
		bindings as never,
	);
	return rows;
};

const androidApps = async (db: Db, where: string, bindings: Record<string, unknown>): Promise<AndroidApp[]> => {
	const {rows} = await db.raw<{rows: AndroidApp[]}>(
		`SELECT org_key AS "orgKey", app.value->>'packageName' AS "packageName",
			app.value->'sha256Fingerprints' AS "sha256Fingerprints",
			coalesce(CAST(app.value->>'dynamicAppLinks' AS boolean), false) AS "dynamicAppLinks",
			coalesce(browser_paths, '{}') AS "browserPaths"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id,
			jsonb_array_elements(android) WITH ORDINALITY AS app (value, position)
		WHERE organizations.status = 'ACTIVE' AND ${where} ORDER BY org_key COLLATE "C", position`,
		bindings as never,
	);
	return rows;
};

const ONE_ORGANIZATION = 'organizations.id = :organizationId';
const NAMED = 'organizations.id = ANY(:organizationIds)';

/** The iOS app of an organization; none while it is suspended or its configuration is incomplete. */
export const iosAppsOf = (db: Db, organizationId: string): Promise<OwnAppleApp[]> =>
	iosApps(db, ONE_ORGANIZATION, {organizationId});

/** The Android apps of an organization, as configured; none while it is suspended. */
export const androidAppsOf = (db: Db, organizationId: string): Promise<AndroidApp[]> =>
	androidApps(db, ONE_ORGANIZATION, {organizationId});

/** The iOS apps of these organizations that have a place in the shared link domain's file. */
export const sharedIosAppsOf = (db: Db, organizationIds: readonly string[]): Promise<AppleApp[]> =>
	iosApps(db, `shared_at IS NOT NULL AND ${NAMED}`, {organizationIds});

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
	organizationIds === null
		? androidApps(db, hasPlan, {plans})
		: androidApps(db, `${hasPlan} AND ${NAMED}`, {plans, organizationIds});

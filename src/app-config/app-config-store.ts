import {type Db, translateViolation} from '../db/db.ts';
import {appConfigNotFound, organizationNotFound} from '../errors.ts';
import type {AndroidApp, AppleApp} from '../resolution/association-files.ts';
import type {AndroidConfig, AppConfig, Confidence, IosConfig} from './app-config.ts';

type Row = {
	ios: IosConfig | null;
	android: AndroidConfig[];
	fallback_url: string | null;
	og_title: string | null;
	og_description: string | null;
	og_image_url: string | null;
	probabilistic_matching: boolean;
	minimum_confidence: Confidence;
};

// Field by field: jsonb keeps keys in an order of its own.
const toIos = ({bundleId, teamId, appStoreId, scheme}: IosConfig): IosConfig => ({
	bundleId,
	teamId,
	appStoreId,
	scheme,
});
const toAndroid = ({packageName, sha256Fingerprints, scheme}: AndroidConfig): AndroidConfig => ({
	packageName,
	sha256Fingerprints,
	scheme,
});

const toAppConfig = (row: Row): AppConfig => ({
	ios: row.ios === null ? null : toIos(row.ios),
	android: row.android.map(toAndroid),
	fallbackUrl: row.fallback_url,
	og: {title: row.og_title, description: row.og_description, imageUrl: row.og_image_url},
	probabilisticMatching: row.probabilistic_matching,
	minimumConfidence: row.minimum_confidence,
});

/** The organization's app configuration, or null until one is set. */
export const findAppConfig = async (db: Db, organizationId: string): Promise<AppConfig | null> => {
	const [row] = (await db('app_configs').where({organization_id: organizationId})) as Row[];
	return row === undefined ? null : toAppConfig(row);
};

/** As `findAppConfig`. @throws 404 until one is set. */
export const getAppConfig = async (db: Db, organizationId: string): Promise<AppConfig> => {
	const config = await findAppConfig(db, organizationId);
	if (config === null) {
		throw appConfigNotFound();
	}

	return config;
};

/** Sets the organization's configuration, in place of one that it has. @throws 404 without the organization. */
export const putAppConfig = async (trx: Db, organizationId: string, config: AppConfig, now: Date): Promise<void> => {
	const columns = {
		ios: config.ios === null ? null : JSON.stringify(config.ios),
		android: JSON.stringify(config.android),
		fallback_url: config.fallbackUrl,
		og_title: config.og.title,
		og_description: config.og.description,
		og_image_url: config.og.imageUrl,
		probabilistic_matching: config.probabilisticMatching,
		minimum_confidence: config.minimumConfidence,
		updated_at: now,
	};
	await trx('app_configs')
		.insert({...columns, organization_id: organizationId, created_at: now})
		.onConflict('organization_id')
		.merge(Object.keys(columns))
		.catch((error: unknown) => {
			throw translateViolation(error, {app_configs_organization_id_fkey: organizationNotFound});
		});
};

const iosApps = async (db: Db, scope: string, bindings: string[]): Promise<AppleApp[]> => {
	const {rows} = await db.raw<{rows: AppleApp[]}>(
		`SELECT org_key AS "orgKey", ios->>'teamId' AS "teamId", ios->>'bundleId' AS "bundleId"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id
		WHERE organizations.status = 'ACTIVE' AND ios->>'teamId' IS NOT NULL AND ios->>'bundleId' IS NOT NULL ${scope}
		ORDER BY org_key COLLATE "C"`,
		bindings,
	);
	return rows;
};

const androidApps = async (db: Db, scope: string, bindings: string[]): Promise<AndroidApp[]> => {
	const {rows} = await db.raw<{rows: AndroidApp[]}>(
		`SELECT app.value->>'packageName' AS "packageName", app.value->'sha256Fingerprints' AS "sha256Fingerprints"
		FROM app_configs JOIN organizations ON organizations.id = app_configs.organization_id,
			jsonb_array_elements(android) WITH ORDINALITY AS app (value, position)
		WHERE organizations.status = 'ACTIVE' ${scope}
		ORDER BY org_key COLLATE "C", position`,
		bindings,
	);
	return rows;
};

const ONE_ORGANIZATION = 'AND organizations.id = ?';

/** The iOS apps of all active organizations whose configuration is complete (decisions 8), by orgKey. */
export const listIosApps = (db: Db): Promise<AppleApp[]> => iosApps(db, '', []);

/** As listIosApps, of one organization; none while it is suspended. */
export const iosAppsOf = (db: Db, organizationId: string): Promise<AppleApp[]> =>
	iosApps(db, ONE_ORGANIZATION, [organizationId]);

/** The Android apps of all active organizations, by orgKey and as configured; a package may be there more than once. */
export const listAndroidApps = (db: Db): Promise<AndroidApp[]> => androidApps(db, '', []);

/** As listAndroidApps, of one organization; none while it is suspended. */
export const androidAppsOf = (db: Db, organizationId: string): Promise<AndroidApp[]> =>
	androidApps(db, ONE_ORGANIZATION, [organizationId]);

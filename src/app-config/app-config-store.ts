import {type Db, translateViolation} from '../db/db.ts';
import {appConfigNotFound, organizationNotFound} from '../errors.ts';
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

import {type Columns, columnsOf, toColumns} from '../db/columns.ts';
import {type Db, translateViolation} from '../db/db.ts';
import {appConfigNotFound, organizationNotFound} from '../errors.ts';
import type {AndroidConfig, AppConfig, IosConfig} from './app-config.ts';

/** `og` has a column for each of its fields. */
const withoutOg = ({og, ...config}: AppConfig) => ({
	...config,
	ogTitle: og.title,
	ogDescription: og.description,
	ogImageUrl: og.imageUrl,
});
type Stored = ReturnType<typeof withoutOg>;

const columns: Columns<Stored> = columnsOf(
	'ios, android, fallback_url, og_title, og_description, og_image_url, probabilistic_matching, minimum_confidence',
);

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

const toAppConfig = ({
	ios,
	android,
	fallbackUrl,
	ogTitle,
	ogDescription,
	ogImageUrl,
	...matching
}: Stored): AppConfig => ({
	ios: ios === null ? null : toIos(ios),
	android: android.map(toAndroid),
	fallbackUrl,
	og: {title: ogTitle, description: ogDescription, imageUrl: ogImageUrl},
	...matching,
});

/** The organization's app configuration, or null until one is set. */
export const findAppConfig = async (db: Db, organizationId: string): Promise<AppConfig | null> => {
	const row: Stored | undefined = await db('app_configs').where({organization_id: organizationId}).first(columns.list);
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
	const values = toColumns({
		...withoutOg(config),
		ios: config.ios === null ? null : JSON.stringify(config.ios),
		android: JSON.stringify(config.android),
		updatedAt: now,
	});
	await trx('app_configs')
		.insert({...values, organization_id: organizationId, created_at: now})
		.onConflict('organization_id')
		.merge(Object.keys(values))
		.catch((error: unknown) => {
			throw translateViolation(error, {app_configs_organization_id_fkey: organizationNotFound});
		});
};

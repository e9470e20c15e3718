import {type Columns, columnsOf, toColumns} from '../db/columns.ts';
import {type Db, translateViolation} from '../db/db.ts';
import {appConfigNotFound, organizationNotFound, required} from '../errors.ts';
import {
	type Destinations,
	type MinimumVersion,
	type PlatformColumns,
	platformColumns,
	platformFieldsOf,
} from '../links/platform-fields.ts';
import {type AppConfig, androidOf, iosOf} from './app-config.ts';

/** `og` has a column for each of its fields. */
const withoutOg = ({og, destinations, minimumVersion, ...config}: AppConfig) => ({
	browserPaths: null,
	errorPages: false,
	clipboardFormat: null,
	logoUrl: null,
	...config,
	...platformColumns({destinations, minimumVersion}),
	ogTitle: og.title,
	ogDescription: og.description,
	ogImageUrl: og.imageUrl,
});
type Stored = Omit<ReturnType<typeof withoutOg>, keyof PlatformColumns> & {
	destinations: Destinations | null;
	minimumVersion: MinimumVersion | null;
};

const columns: Columns<Stored> = columnsOf(
	'ios, android, fallback_url, destinations, minimum_version, browser_paths, error_pages, clipboard_format, logo_url, og_title, og_description, og_image_url, probabilistic_matching, minimum_confidence',
);

const toAppConfig = ({
	ios,
	android,
	fallbackUrl,
	destinations,
	minimumVersion,
	browserPaths,
	errorPages,
	clipboardFormat,
	logoUrl,
	ogTitle,
	ogDescription,
	ogImageUrl,
	...matching
}: Stored): AppConfig => ({
	ios: ios === null ? null : iosOf(ios),
	android: android.map(androidOf),
	fallbackUrl,
	...platformFieldsOf({destinations, minimum_version: minimumVersion}),
	...(browserPaths === null ? {} : {browserPaths}),
	...(errorPages ? {errorPages} : {}),
	...(clipboardFormat === null ? {} : {clipboardFormat}),
	...(logoUrl === null ? {} : {logoUrl}),
	og: {title: ogTitle, description: ogDescription, imageUrl: ogImageUrl},
	...matching,
});

/** The organization's app configuration, or null until one is set. */
export const findAppConfig = async (db: Db, organizationId: string): Promise<AppConfig | null> => {
	const row: Stored | undefined = await db('app_configs').where({organization_id: organizationId}).first(columns.list);
	return row === undefined ? null : toAppConfig(row);
};

/** As `findAppConfig`. @throws 404 until one is set. */
export const getAppConfig = async (db: Db, organizationId: string): Promise<AppConfig> =>
	required(await findAppConfig(db, organizationId), appConfigNotFound);

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

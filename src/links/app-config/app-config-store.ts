import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, translateViolation} from '../../platform/db/db.ts';
import {appConfigNotFound, organizationNotFound, required} from '../../platform/errors.ts';
import {inputColumns, ogOf, platformFieldsOf} from '../links/link-columns.ts';
import {type AppName, type LinkColumns, linkColumns} from '../links/link-fields.ts';
import {type AppConfig, appConfigOf} from './app-config.ts';

/** The fields that links lack, with the stored values of absent ones. */
const unset = {browserPaths: null, errorPages: false, clipboardFormat: null, logoUrl: null};
type OwnFields = Omit<AppConfig, AppName>;
type Row = {
	[Field in keyof OwnFields]-?: OwnFields[Field] | (Field extends keyof typeof unset ? (typeof unset)[Field] : never);
} & LinkColumns<AppName>;

const columns: Columns<Omit<Row, keyof LinkColumns<AppName>>> = columnsOf(
	'ios, android, browser_paths, error_pages, clipboard_format, logo_url, probabilistic_matching, minimum_confidence',
);
const columnNames = [
	...columns.list,
	...linkColumns.filter(({field}) => field.levels.includes('app_configs')).map(({column}) => column),
];

/** The organization's app configuration. @throws 404 until one is set. */
export const getAppConfig = async (db: Db, organizationId: string): Promise<AppConfig> => {
	const found: Row | undefined = await db('app_configs').where({organization_id: organizationId}).first(columnNames);
	const {fallback_url: fallbackUrl, ...row} = required(found, appConfigNotFound);
	return appConfigOf({...row, fallbackUrl, ...platformFieldsOf(row), og: ogOf(row)});
};

/** Sets or replaces the organization's configuration. @throws 404 without the organization. */
export const putAppConfig = async (trx: Db, organizationId: string, config: AppConfig, now: Date): Promise<void> => {
	const values = {
		...inputColumns({...unset, ...config}, null),
		ios: config.ios === null ? null : JSON.stringify(config.ios),
		android: JSON.stringify(config.android),
		updated_at: now,
	};
	await trx('app_configs')
		.insert({...values, organization_id: organizationId, created_at: now})
		.onConflict('organization_id')
		.merge(Object.keys(values))
		.catch((error: unknown) => {
			throw translateViolation(error, {app_configs_organization_id_fkey: organizationNotFound});
		});
};

import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, translateViolation} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {identifier, joined, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {deviceNotFound, organizationNotFound, required} from '../../platform/errors.ts';
import type {ValueOf} from '../../platform/http/answer.ts';
import type {Attribution} from './attribution.ts';
import type {deviceAnswer} from './device-fields.ts';

/** An app's facts about its device. A fact that is left out stays as it was. */
export type DeviceFacts = Partial<
	Record<
		'platform' | 'osVersion' | 'deviceModel' | 'appVersion' | 'sdkVersion' | 'language' | 'timezone',
		string | null | undefined
	>
>;

export type DeviceRegistration = {
	organizationId: string;
	deviceId: string;
	now: Date;
	facts?: DeviceFacts;
	sessionId?: string;
	/** The link that the device has just been matched to. */
	matchedLinkId?: string;
	/** The link that the app has just opened, and where that came from. */
	opened?: {linkId: string; attribution: Attribution};
};

/** Columns that keep their value if a registration has none. */
const optionalColumns = [
	'platform',
	'os_version',
	'device_model',
	'app_version',
	'sdk_version',
	'language',
	'timezone',
	'session_id',
	'matched_link_id',
	'matched_at',
	'opened_link_id',
	'opened_at',
	'opened_attribution',
] as const;

const columns = ['id', 'organization_id', 'device_id', 'first_seen_at', 'last_seen_at', 'by_visit', ...optionalColumns];

const columnList = joined(columns.map(identifier));

const isKept = joined(
	optionalColumns.map(identifier).map((column) => sql`${column} = coalesce(excluded.${column}, devices.${column})`),
);

/** The row of a new device. */
export const deviceRow = ({
	organizationId,
	deviceId,
	now,
	facts = {},
	sessionId,
	matchedLinkId,
	opened,
}: Omit<DeviceRegistration, 'organizationId'> & {organizationId?: string}) => ({
	id: randomUUID(),
	organization_id: organizationId,
	device_id: deviceId,
	first_seen_at: now,
	last_seen_at: now,
	by_visit: false,
	platform: facts.platform || null,
	os_version: facts.osVersion,
	device_model: facts.deviceModel,
	app_version: facts.appVersion,
	sdk_version: facts.sdkVersion,
	language: facts.language,
	timezone: facts.timezone,
	session_id: sessionId,
	matched_link_id: matchedLinkId,
	matched_at: matchedLinkId === undefined ? null : now,
	opened_link_id: opened?.linkId,
	opened_at: opened === undefined ? null : now,
	opened_attribution: opened?.attribution,
});

const made = new Map(columns.map((column) => [column, sql`made.${identifier(column)}`]));
const ownValues = joined([...made.values()]);
const valuesOfClaim = joined([
	...new Map([
		...made,
		['organization_id', sql`claimed.organization_id`],
		['matched_link_id', sql`claimed.link_id`],
		['matched_at', sql`made.last_seen_at`],
	]).values(),
]);

/** Inserts a row of JSON, or adds its values to the existing row. */
export const insertDeviceSql = (row: string | null, where = sql``, values = ownValues): Sql =>
	sql`INSERT INTO devices (${columnList})
	SELECT ${values} FROM json_populate_record(null::devices, ${row}) AS made ${where}
	ON CONFLICT (organization_id, device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at,
		by_visit = devices.by_visit AND excluded.by_visit, ${isKept}`;

/**
 * Inserts or updates the device that claimed the click of `claimed`, with the click's organization and link and the
 * time. Null: no device.
 */
export const insertMatchedDeviceSql = (row: string | null): Sql =>
	insertDeviceSql(row, sql`CROSS JOIN claimed WHERE ${row}::json IS NOT NULL`, valuesOfClaim);

/** Notes that the organization's app runs on a device. @returns whether it was new. @throws 404 without the organization. */
export const registerDevice = async (db: Db, registration: DeviceRegistration): Promise<boolean> => {
	const insert = insertDeviceSql(JSON.stringify(deviceRow(registration)));
	const [registered] = await run<{is_new: boolean}>(
		db,
		prepared('register a device', sql`${insert} RETURNING (xmax = 0) AS is_new`),
	).catch((error: unknown) => {
		throw translateViolation(error, {devices_organization_id_fkey: organizationNotFound});
	});
	return registered?.is_new ?? false;
};

/** A device as the API shows it. */
export type DeviceJson = ValueOf<typeof deviceAnswer>;

export const deviceColumns: Columns<DeviceJson> = columnsOf(
	'id, device_id, platform, os_version, device_model, app_version, sdk_version, language, timezone, session_id, external_user_id, traits, matched_link_id, matched_at, first_seen_at, last_seen_at',
);

/** An organization's devices by their first sight, newest first. */
export const listDevices = (db: Db, organizationId: string, query: PageQuery): Promise<Page<DeviceJson>> =>
	readPage(
		db('devices').where({organization_id: organizationId}).select(deviceColumns.list),
		query,
		descending('first_seen_at', 'id'),
	);

/** A device of the organization by the id that its app gave it. @throws 404. */
export const getDevice = async (db: Db, organizationId: string, deviceId: string): Promise<DeviceJson> => {
	const device: DeviceJson = required(
		await db('devices').where({organization_id: organizationId, device_id: deviceId}).first(deviceColumns.list),
		deviceNotFound,
	);
	return device;
};

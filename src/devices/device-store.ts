import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';

/** What an app tells of its device. What it leaves out stays as it was. */
export type DeviceFacts = {
	platform?: string | null | undefined;
	osVersion?: string | null | undefined;
	deviceModel?: string | null | undefined;
	appVersion?: string | null | undefined;
	sdkVersion?: string | null | undefined;
	language?: string | null | undefined;
	timezone?: string | null | undefined;
};

export type DeviceRegistration = {
	organizationId: string;
	deviceId: string;
	now: Date;
	facts?: DeviceFacts;
	sessionId?: string;
	/** The link that the device has just been matched to. */
	matchedLinkId?: string;
};

/** What is told now and then; what is not told stays. */
const toldColumns = [
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
] as const;

const columns = ['id', 'organization_id', 'device_id', 'first_seen_at', 'last_seen_at', 'by_visit', ...toldColumns];

/** The row of `devices`, where it is a new one. */
export const deviceRow = ({
	organizationId,
	deviceId,
	now,
	facts = {},
	sessionId,
	matchedLinkId,
}: DeviceRegistration) => ({
	id: randomUUID(),
	organization_id: organizationId,
	device_id: deviceId,
	first_seen_at: now,
	last_seen_at: now,
	by_visit: false,
	platform: facts.platform,
	os_version: facts.osVersion,
	device_model: facts.deviceModel,
	app_version: facts.appVersion,
	sdk_version: facts.sdkVersion,
	language: facts.language,
	timezone: facts.timezone,
	session_id: sessionId,
	matched_link_id: matchedLinkId,
	matched_at: matchedLinkId === undefined ? null : now,
});

/** Inserts a row that a parameter holds as JSON, or adds what it tells to the one that there is. */
export const insertDeviceSql = (row: string, where = ''): string => `
	INSERT INTO devices (${columns.join(', ')})
	SELECT ${columns.join(', ')} FROM json_populate_record(null::devices, ${row}) AS made ${where}
	ON CONFLICT (organization_id, device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at,
		by_visit = devices.by_visit AND excluded.by_visit,
		${toldColumns.map((column) => `${column} = coalesce(excluded.${column}, devices.${column})`).join(', ')}`;

const register: Prepared = {name: 'register a device', text: `${insertDeviceSql('$1')} RETURNING (xmax = 0) AS is_new`};

/** Notes that the organization's app runs on a device. @returns whether it was new. */
export const registerDevice = async (db: Db, registration: DeviceRegistration): Promise<boolean> => {
	const [row] = await runPrepared<{is_new: boolean}>(db, register, [JSON.stringify(deviceRow(registration))]);
	return row?.is_new ?? false;
};

export type DeviceRow = {
	id: string;
	device_id: string;
	platform: string | null;
	os_version: string | null;
	device_model: string | null;
	app_version: string | null;
	sdk_version: string | null;
	language: string | null;
	timezone: string | null;
	session_id: string | null;
	external_user_id: string | null;
	traits: Record<string, unknown> | null;
	matched_link_id: string | null;
	matched_at: Date | null;
	first_seen_at: Date;
	last_seen_at: Date;
};

/** A device as the API shows it. */
export const deviceJson = (row: DeviceRow) => ({
	id: row.id,
	deviceId: row.device_id,
	platform: row.platform,
	osVersion: row.os_version,
	deviceModel: row.device_model,
	appVersion: row.app_version,
	sdkVersion: row.sdk_version,
	language: row.language,
	timezone: row.timezone,
	sessionId: row.session_id,
	externalUserId: row.external_user_id,
	traits: row.traits,
	matchedLinkId: row.matched_link_id,
	matchedAt: row.matched_at,
	firstSeenAt: row.first_seen_at,
	lastSeenAt: row.last_seen_at,
});

export type DeviceJson = ReturnType<typeof deviceJson>;

/** An organization's devices, the newest first; being seen again moves none. */
export const listDevices = async (db: Db, organizationId: string, query: PageQuery): Promise<Page<DeviceJson>> => {
	const all = db('devices').where({organization_id: organizationId});
	return readPage(all, query, 'first_seen_at DESC, id DESC', deviceJson);
};

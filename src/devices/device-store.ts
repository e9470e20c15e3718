import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {readPage} from '../db/read-page.ts';
import type {Page, PageQuery} from '../http/validate.ts';

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

type Registration = {
	organizationId: string;
	deviceId: string;
	now: Date;
	facts?: DeviceFacts;
	sessionId?: string;
	/** The link that the device has just been matched to. */
	matchedLinkId?: string;
};

/** Notes that the organization's app runs on a device. @returns whether it was new. */
export const registerDevice = async (
	db: Db,
	{organizationId, deviceId, now, facts = {}, sessionId, matchedLinkId}: Registration,
): Promise<boolean> => {
	const told = {
		platform: facts.platform ?? null,
		os_version: facts.osVersion ?? null,
		device_model: facts.deviceModel ?? null,
		app_version: facts.appVersion ?? null,
		sdk_version: facts.sdkVersion ?? null,
		language: facts.language ?? null,
		timezone: facts.timezone ?? null,
		session_id: sessionId ?? null,
		matched_link_id: matchedLinkId ?? null,
		matched_at: matchedLinkId === undefined ? null : now,
	};
	const row = {
		id: randomUUID(),
		organization_id: organizationId,
		device_id: deviceId,
		first_seen_at: now,
		last_seen_at: now,
		...told,
	};
	const columns = Object.keys(row);
	const kept = Object.keys(told).map((column) => `${column} = coalesce(excluded.${column}, devices.${column})`);
	const {rows} = await db.raw<{rows: Array<{is_new: boolean}>}>(
		`INSERT INTO devices (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
		ON CONFLICT (organization_id, device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at, ${kept.join(', ')}
		RETURNING (xmax = 0) AS is_new`,
		Object.values(row),
	);
	return rows[0]?.is_new ?? false;
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

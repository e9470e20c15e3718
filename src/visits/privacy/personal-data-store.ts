import type {Db} from '../../platform/db/db.ts';
import {identifier, joined, run, type Sql, sql} from '../../platform/db/sql.ts';
import {deviceNotFound, userNotFound} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type DeviceJson, deviceColumns} from '../devices/device-store.ts';
import {type MatchAttempt, type SilentGuess, storedColumns} from '../matches/match-attempt-store.ts';
import {matchClicksOfSubject, type SubjectKeys} from '../matches/match-clicks.ts';
import {deviceKeyOf} from '../matches/network-keys.ts';
import type {ClickStore} from '../reports/click-store.ts';
import {type EventJson, eventColumns} from '../sdk/sdk-store.ts';
import {campaigns} from '../visit/click-context.ts';

const utmColumns = joined(
	Object.entries(campaigns.columnsByName)
		.filter(([name]) => name !== 'channel')
		.map(([name, column]) => sql`${identifier(`clicks.${column}`)} AS ${identifier(name)}`),
);

/**
 * Open matches, each joined with its click's own row, if its month has not been dropped. `id` is that of the open match.
 * Addresses, cookies and device ids are stored only as hashes.
 * @param own a SELECT of open matches. @param stored an item of a FROM: the clicks in full.
 */
const clicksOfSubject = (
	own: Sql,
	stored: Sql,
): Sql => sql`SELECT own.id, own.click_id AS "clickId", own.created_at AS "clickedAt",
		own.link_id AS "linkId", clicks.channel, own.platform, clicks.os, clicks.os_version AS "osVersion", clicks.browser,
		clicks.device_model AS "deviceModel", clicks.language, clicks.timezone, clicks.referrer_host AS "referrerHost",
		clicks.country, ${utmColumns}, own.device_model AS "signalDeviceModel", own.language AS "signalLanguage",
		own.timezone AS "signalTimezone", own.signals_at AS "signalsAt", encode(own.ip_key, 'hex') AS "addressHash",
		encode(own.net_key, 'hex') AS "networkHash", encode(own.visitor, 'hex') AS "visitorHash",
		encode(own.consumed_by, 'hex') AS "deviceHash", own.expires_at AS "matchableUntil",
		own.consumed_at AS "claimedAt", own.consumed_method AS "matchMethod",
		own.consumed_confidence AS "matchConfidence", own.consumed_score AS score, own.query
	FROM (${own}) AS own
	LEFT JOIN ${stored} AS clicks ON clicks.id = own.click_id AND clicks.occurred_at = own.created_at`;

/** The columns that the answer puts elsewhere. */
type PersonalClickRow = {
	id: string;
	query: Record<string, string> | null;
	signalDeviceModel: string | null;
	signalLanguage: string | null;
	signalTimezone: string | null;
	signalsAt: Date | null;
};

/**
 * The click in the answer, with the page's signals for the match until they are deleted, and with them the query of the
 * visit if it had one.
 */
const personalClickJson = ({
	signalDeviceModel: deviceModel,
	signalLanguage: language,
	signalTimezone: timezone,
	signalsAt: at,
	query,
	...click
}: PersonalClickRow) => ({
	...click,
	signals: {deviceModel, language, timezone, at},
	...(query && {query}),
});

/** `after`: the id of the last row that has been read; null: from the beginning. */
export type Read<T> = (after: string | null, limit: number) => Promise<T[]>;

/** Whether an attempt is the subject's. A miss with neither a key nor a known token has only the device that asked. */
export const isOfSubject = ({organizationId, deviceIds}: SubjectKeys): Sql =>
	sql`device_id = ANY(${deviceIds}) AND (organization_id = ${organizationId} OR organization_id IS NULL)`;

/** Webhook deliveries whose bodies name one of the subject's devices, clicks or links. */
export const deliveriesOfSubject = (keys: SubjectKeys): Sql => sql`SELECT id, type, at, body FROM endpoint_deliveries
	WHERE organization_id = ${keys.organizationId} AND body IS NOT NULL AND EXISTS (
		SELECT FROM (
			SELECT CAST(to_json(device) AS text) AS name FROM unnest(${keys.deviceIds}::text[]) AS device
			UNION ALL SELECT CAST(click_id AS text) FROM (${matchClicksOfSubject(keys)}) AS clicks
			UNION ALL SELECT CAST(link_id AS text) FROM app_links
				WHERE organization_id = ${keys.organizationId} AND device_id = ANY(${keys.deviceIds})
		) AS names WHERE position(name IN body) > 0
	)`;

const rowsAfter = (after: string | null, limit: number): Sql =>
	sql`(${after}::uuid IS NULL OR id > ${after}::uuid) ORDER BY id LIMIT ${limit}`;

/** The data stored about a subject, kind by kind, in the order of ids. */
export const createPersonalDataStore = (db: Db, keys: SubjectKeys, stored: Pick<ClickStore, 'inFull'>) => {
	const own = sql`organization_id = ${keys.organizationId} AND device_id = ANY(${keys.deviceIds})`;
	const read =
		<T>(rows: Sql): Read<T> =>
		(after, limit) =>
			run<T>(db, sql`${rows} AND ${rowsAfter(after, limit)}`);

	return {
		devices: read<DeviceJson>(sql`SELECT ${deviceColumns.of('devices')} FROM devices WHERE ${own}`),
		events: read<EventJson>(sql`SELECT ${eventColumns.of('events')} FROM events WHERE ${own}`),
		matchAttempts: read<MatchAttempt & {silentGuess: SilentGuess | null}>(
			sql`SELECT ${storedColumns.of('match_attempts')}, silent_guess AS "silentGuess" FROM match_attempts
			WHERE ${isOfSubject(keys)}`,
		),
		/** Links that the device created; left out if there are none. */
		links: read<{id: string}>(
			sql`SELECT * FROM (
				SELECT id, short_code AS "shortCode", title, path, params, created_at AS "createdAt"
				FROM app_links JOIN links ON links.id = link_id
				WHERE app_links.organization_id = ${keys.organizationId} AND device_id = ANY(${keys.deviceIds})
			) AS own WHERE true`,
		),
		/** Webhook deliveries about the subject whose bodies are still there; left out if there are none. */
		deliveries: read<{id: string}>(sql`SELECT * FROM (${deliveriesOfSubject(keys)}) AS own WHERE true`),
		clicks: (async (after, limit) => {
			const page = sql`SELECT * FROM (${matchClicksOfSubject(keys)}) AS own WHERE ${rowsAfter(after, limit)}`;
			const clicks = await stored.inFull(db, page);
			const rows = await run<PersonalClickRow>(db, sql`${clicksOfSubject(page, clicks)} ORDER BY own.id`);
			return rows.map(personalClickJson);
		}) satisfies Read<{id: string}>,
	};
};

/** The subject of a request: a device of an organization, or the user that its app reports (`/sdk/identity`). */
export type DataSubject = {kind: 'device'; deviceId: string} | {kind: 'user'; externalUserId: string};

/** The subject as named in an answer. */
export const subjectJson = (subject: DataSubject): {deviceId: string} | {externalUserId: string} =>
	subject.kind === 'device' ? {deviceId: subject.deviceId} : {externalUserId: subject.externalUserId};

/** The device ids of a subject: its own, or those of the devices whose user it is. */
const deviceIdsOf = async (db: Db, organizationId: string, subject: DataSubject): Promise<string[]> => {
	if (subject.kind === 'device') {
		return [subject.deviceId];
	}

	return db('devices')
		.where({organization_id: organizationId, external_user_id: subject.externalUserId})
		.pluck('device_id');
};

/** The keys of the subject's data in the organization. @throws 404 if nothing is stored about it any more. */
export const findSubject = async (
	{clicks, matchPeppers, clock}: Pick<Services, 'clicks' | 'matchPeppers' | 'clock'>,
	db: Db,
	organizationId: string,
	subject: DataSubject,
): Promise<SubjectKeys> => {
	const [deviceIds, peppers] = await Promise.all([
		deviceIdsOf(db, organizationId, subject),
		matchPeppers.at(clock.now()),
	]);
	const deviceKeys = peppers.flatMap((pepper) =>
		deviceIds.map((deviceId) => deviceKeyOf(pepper, {deviceId, ip: '::', traits: []})),
	);
	const keys = {organizationId, deviceIds, deviceKeys};
	const store = createPersonalDataStore(db, keys, clicks);
	for (const read of Object.values(store)) {
		if ((await read(null, 1)).length > 0) {
			return keys;
		}
	}

	throw subject.kind === 'user' ? userNotFound() : deviceNotFound();
};

import type {Db} from '../../platform/db/db.ts';
import {run, type Sql, sql} from '../../platform/db/sql.ts';
import {type DeviceJson, deviceColumns} from '../devices/device-store.ts';
import {
	type MatchAttempt,
	type MatchAttemptRow,
	type SilentGuess,
	toMatchAttempt,
} from '../matches/match-attempt-store.ts';
import {matchClicksOfSubject, type SubjectKeys} from '../matches/match-clicks.ts';
import type {ClickStore} from '../reports/click-store.ts';
import {type EventJson, eventColumns} from '../sdk/sdk-store.ts';
import type {DataSubject} from './data-subject.ts';
import {clicksOfSubject, type PersonalClickRow, personalClickJson} from './personal-clicks.ts';

/** `after`: the id of the last row that has been read; null: from the beginning. */
export type Read<T> = (after: string | null, limit: number) => Promise<T[]>;

/** The device ids of a subject: its own, or those of the devices whose user it is. */
export const deviceIdsOf = async (db: Db, organizationId: string, subject: DataSubject): Promise<string[]> => {
	if (subject.kind === 'device') {
		return [subject.deviceId];
	}

	return db('devices')
		.where({organization_id: organizationId, external_user_id: subject.externalUserId})
		.pluck('device_id');
};

/** Of an attempt. A miss without a key and a known token has no organization, but it has the device that asked. */
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
	const readAttempts = read<MatchAttemptRow & {silent_guess: SilentGuess | null}>(
		sql`SELECT * FROM match_attempts WHERE ${isOfSubject(keys)}`,
	);

	return {
		devices: read<DeviceJson>(sql`SELECT ${deviceColumns.of('devices')} FROM devices WHERE ${own}`),
		events: read<EventJson>(sql`SELECT ${eventColumns.of('events')} FROM events WHERE ${own}`),
		matchAttempts: (async (after, limit) => {
			const rows = await readAttempts(after, limit);
			return rows.map((row) => ({...toMatchAttempt(row), silentGuess: row.silent_guess}));
		}) satisfies Read<MatchAttempt & {silentGuess: SilentGuess | null}>,
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

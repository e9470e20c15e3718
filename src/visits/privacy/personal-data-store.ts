import type {Db} from '../../platform/db/db.ts';
import type {ClickStore} from '../clicks/click-store.ts';
import {type DeviceJson, deviceColumns} from '../devices/device-store.ts';
import {
	type MatchAttempt,
	type MatchAttemptRow,
	type SilentGuess,
	toMatchAttempt,
} from '../matches/match-attempt-store.ts';
import {matchClicksOfSubject} from '../matches/match-clicks.ts';
import {type EventJson, eventColumns} from '../sdk/sdk-store.ts';
import type {DataSubject, SubjectKeys} from './data-subject.ts';
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

/** A miss without a key and a known token has no organization, but it has the device that asked. */
export const IS_ATTEMPT_OF_SUBJECT =
	'device_id = ANY(:deviceIds) AND (organization_id = :organizationId OR organization_id IS NULL)';

/** Webhook deliveries whose bodies name one of the subject's devices, clicks or links. */
export const DELIVERIES_OF_SUBJECT = `SELECT id, type, at, body FROM endpoint_deliveries
	WHERE organization_id = :organizationId AND body IS NOT NULL AND EXISTS (
		SELECT FROM (
			SELECT CAST(to_json(device) AS text) AS name FROM unnest(CAST(:deviceIds AS text[])) AS device
			UNION ALL SELECT CAST(click_id AS text) FROM (${matchClicksOfSubject}) AS clicks
			UNION ALL SELECT CAST(link_id AS text) FROM app_links
				WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds)
		) AS names WHERE position(name IN body) > 0
	)`;

const ROWS_AFTER = '(CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid)) ORDER BY id LIMIT :limit';

/** The data stored about a subject, kind by kind, in the order of ids. */
export const createPersonalDataStore = (db: Db, keys: SubjectKeys, stored: Pick<ClickStore, 'inFull'>) => {
	const read =
		<T, Row = T>(sql: string, toJson?: (row: Row) => T): Read<T> =>
		async (after, limit) => {
			const {rows} = await db.raw(sql, {...keys, after, limit});
			return toJson === undefined ? rows : rows.map(toJson);
		};

	return {
		devices: read<DeviceJson>(
			`SELECT ${deviceColumns.sql('devices')} FROM devices
			WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds) AND ${ROWS_AFTER}`,
		),
		events: read<EventJson>(
			`SELECT ${eventColumns.sql('events')} FROM events
			WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds) AND ${ROWS_AFTER}`,
		),
		matchAttempts: read<
			MatchAttempt & {silentGuess: SilentGuess | null},
			MatchAttemptRow & {silent_guess: SilentGuess | null}
		>(`SELECT * FROM match_attempts WHERE ${IS_ATTEMPT_OF_SUBJECT} AND ${ROWS_AFTER}`, (row) => ({
			...toMatchAttempt(row),
			silentGuess: row.silent_guess,
		})),
		/** Links that the device created; left out if there are none. */
		links: read<{id: string}>(
			`SELECT * FROM (
				SELECT id, short_code AS "shortCode", title, path, params, created_at AS "createdAt"
				FROM app_links JOIN links ON links.id = link_id
				WHERE app_links.organization_id = :organizationId AND device_id = ANY(:deviceIds)
			) AS own WHERE ${ROWS_AFTER}`,
		),
		/** Webhook deliveries about the subject whose bodies are still there; left out if there are none. */
		deliveries: read<{id: string}>(`SELECT * FROM (${DELIVERIES_OF_SUBJECT}) AS own WHERE ${ROWS_AFTER}`),
		clicks: (async (after, limit) => {
			const page = {
				sql: `SELECT * FROM (${matchClicksOfSubject}) AS own WHERE ${ROWS_AFTER}`,
				bindings: {...keys, after, limit},
			};
			const {sql, bindings} = await stored.inFull(db, page);
			const {rows} = await db.raw<{rows: PersonalClickRow[]}>(`${clicksOfSubject(page.sql, sql)} ORDER BY own.id`, {
				...page.bindings,
				...bindings,
			});
			return rows.map(personalClickJson);
		}) satisfies Read<{id: string}>,
	};
};

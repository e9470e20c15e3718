import type {Db} from '../db/db.ts';
import {type DeviceJson, type DeviceRow, deviceJson} from '../devices/device-store.ts';
import {
	type MatchAttempt,
	type MatchAttemptRow,
	type SilentGuess,
	toMatchAttempt,
} from '../match/match-attempt-store.ts';
import {type EventJson, type EventRow, eventJson} from '../sdk/sdk-store.ts';
import type {DataSubject, SubjectKeys} from './data-subject.ts';
import {clicksOfSubject, type PersonalClick, type PersonalClickRow, personalClickJson} from './personal-clicks.ts';

/** `after`: the id of the last row that has been read; null: from the beginning. */
export type Read<T> = (after: string | null, limit: number) => Promise<T[]>;

/** The ids of the devices of a subject: that of a device itself, or those that the app named the user of. */
export const deviceIdsOf = async (db: Db, organizationId: string, subject: DataSubject): Promise<string[]> => {
	if (subject.kind === 'device') {
		return [subject.deviceId];
	}

	const rows: Array<{device_id: string}> = await db('devices')
		.where({organization_id: organizationId, external_user_id: subject.externalUserId})
		.select('device_id');
	return rows.map((row) => row.device_id);
};

/** A miss that nobody can be told of belongs to no organization; the device that asked is in it all the same. */
export const IS_ATTEMPT_OF_SUBJECT =
	'device_id = ANY(:deviceIds) AND (organization_id = :organizationId OR organization_id IS NULL)';

const ROWS_AFTER = '(CAST(:after AS uuid) IS NULL OR id > CAST(:after AS uuid)) ORDER BY id LIMIT :limit';

/** What is stored about a subject, kind by kind, in the order of ids. */
export const createPersonalDataStore = (db: Db, keys: SubjectKeys) => {
	const rowsOf = async <Row>(sql: string, after: string | null, limit: number): Promise<Row[]> => {
		const {rows} = await db.raw<{rows: Row[]}>(sql, {...keys, after, limit});
		return rows;
	};
	const read =
		<Row, T>(sql: string, toJson: (row: Row) => T): Read<T> =>
		async (after, limit) =>
			(await rowsOf<Row>(sql, after, limit)).map(toJson);

	return {
		devices: read<DeviceRow, DeviceJson>(
			`SELECT * FROM devices
			WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds) AND ${ROWS_AFTER}`,
			deviceJson,
		),
		events: read<EventRow, EventJson>(
			`SELECT * FROM events
			WHERE organization_id = :organizationId AND device_id = ANY(:deviceIds) AND ${ROWS_AFTER}`,
			eventJson,
		),
		matchAttempts: read<
			MatchAttemptRow & {silent_guess: SilentGuess | null},
			MatchAttempt & {silentGuess: SilentGuess | null}
		>(`SELECT * FROM match_attempts WHERE ${IS_ATTEMPT_OF_SUBJECT} AND ${ROWS_AFTER}`, (row) => ({
			...toMatchAttempt(row),
			silentGuess: row.silent_guess,
		})),
		clicks: read<PersonalClickRow, PersonalClick>(
			`SELECT * FROM (${clicksOfSubject}) AS own WHERE ${ROWS_AFTER}`,
			personalClickJson,
		),
	};
};

import type {Db} from '../../platform/db/db.ts';
import {deviceNotFound, userNotFound} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {SubjectKeys} from '../matches/match-clicks.ts';
import {deviceKeyOf} from '../matches/network-keys.ts';
import {createPersonalDataStore} from './personal-data-store.ts';

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

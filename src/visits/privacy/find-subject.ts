import type {Db} from '../../platform/db/db.ts';
import {deviceNotFound, userNotFound} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {SubjectKeys} from '../matches/match-clicks.ts';
import {deviceKeyOf} from '../matches/network-keys.ts';
import type {DataSubject} from './data-subject.ts';
import {createPersonalDataStore, deviceIdsOf} from './personal-data-store.ts';

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

import type {IncomingHttpHeaders} from 'node:http';
import {findKeyHolder, noteKeyUse} from '../../accounts/api-keys/authenticate-key.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import type {Services} from '../../services.ts';

/**
 * The organization of a valid CLIENT key; any other key counts as none, because the route needs none (contract/match 10).
 */
export const organizationOfKey = async (
	services: Pick<Services, 'appRequests' | 'background' | 'clock' | 'db' | 'keyCache'>,
	{'x-api-key': rawKey, 'user-agent': userAgent}: IncomingHttpHeaders,
): Promise<Organization | null> => {
	const holder = typeof rawKey === 'string' && rawKey !== '' ? await findKeyHolder(services, rawKey) : null;
	if (holder !== null && holder.key.tier !== 'CLIENT') {
		const live = {type: 'refusal' as const, text: 'POST /match with the SERVER key, which counts as no key'};
		services.appRequests.note({organization: holder.organization, counts: [['wrong_key', 'SERVER']], userAgent, live});
	}

	if (holder === null || holder.key.tier !== 'CLIENT' || holder.organization.status === 'SUSPENDED') {
		return null;
	}

	noteKeyUse(services, holder.key);
	return holder.organization;
};

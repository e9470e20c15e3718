import {findKeyHolder, noteKeyUse} from '../auth/credentials.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {findMatch} from './find-match.ts';
import {matchBody} from './match-request.ts';

/** The organization of a valid CLIENT key; any other key is as none, because the route needs none (decisions 6). */
const organizationOf = async (
	services: Services,
	rawKey: string | string[] | undefined,
): Promise<Organization | null> => {
	const holder = typeof rawKey === 'string' && rawKey !== '' ? await findKeyHolder(services, rawKey) : null;
	if (holder === null || holder.key.tier !== 'CLIENT' || holder.organization.status === 'SUSPENDED') {
		return null;
	}

	noteKeyUse(services, holder.key);
	return holder.organization;
};

export const matchRoutes = [
	route({
		method: 'POST',
		path: '/match',
		credential: 'none',
		limit: limits.match,
		body: matchBody,
		cors: true,
		handler: async ({services, request, body}) =>
			findMatch(services, {
				fields: body,
				ip: request.ip,
				organization: await organizationOf(services, request.headers['x-api-key']),
			}),
	}),
];

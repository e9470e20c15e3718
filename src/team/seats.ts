import {bestEffort} from '../identity/resolve-role.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {createMemberStore} from './member-store.ts';

/**
 * What an organization uses of its quota `members`, for people to read: members, and the open invitations, which count
 * as such (contract/portal 4). Where the provider does not say how many there are, the members alone.
 */
export const countSeats = async (services: Services, {id, clerkOrgId}: Organization): Promise<number> => {
	const {db, provider, config} = services;
	const isKnownThere = clerkOrgId !== null && config.idp.apiKey !== null;
	const [members, invitations] = await Promise.all([
		createMemberStore(db, id).count(),
		isKnownThere
			? bestEffort(
					services,
					'count the open invitations',
					provider.listInvitations(clerkOrgId, {statuses: ['pending'], limit: 1}),
				)
			: null,
	]);
	return members + (invitations?.total ?? 0);
};

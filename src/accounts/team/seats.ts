import type {Services} from '../../services.ts';
import {bestEffort} from '../identity/resolve-role.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {createMemberStore} from './member-store.ts';

/**
 * The organization's use of its quota `members`, for display: members and open invitations, which count as such
 * (contract/portal 4). If the provider fails, only the members.
 */
export const countSeats = async (
	services: Pick<Services, 'config' | 'db' | 'log' | 'provider'>,
	{id, clerkOrgId}: Organization,
): Promise<number> => {
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

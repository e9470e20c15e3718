import {type Role, storedRole} from '../../platform/config/roles.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {MirroredMember} from './membership-store.ts';
import {inMirror, type Mirror, type MirrorDeps} from './mirror.ts';
import {mirrorMember} from './mirror-member.ts';
import {mirrorOrganization} from './mirror-organization.ts';
import {mirrorUser} from './mirror-user.ts';
import type {ProviderMembership, ProviderOrganization, ProviderUser} from './provider-payloads.ts';
import {resolveRole, stampRole} from './resolve-role.ts';
import {createTombstoneStore} from './tombstone-store.ts';

export type FetchDeps = MirrorDeps & Pick<Services, 'log' | 'provider'>;

type Found = {organization: ProviderOrganization; membership: ProviderMembership; user: ProviderUser | null};

/** The provider's current records; null if the user is not a member or the provider does not answer. */
const askProvider = async (
	{provider, log}: FetchDeps,
	{organizationId, userId}: {organizationId: string; userId: string},
): Promise<Found | null> => {
	try {
		const [organization, membership, user] = await Promise.all([
			provider.getOrganization(organizationId),
			provider.findMembership(organizationId, userId),
			provider.getUser(userId),
		]);
		return organization === null || membership === null
			? null
			: {organization, membership: {...membership, organization}, user};
	} catch (error) {
		log.warn({err: error}, 'could not fetch an organization from the identity provider');
		return null;
	}
};

/** Mirrors the records, unless the provider has reported their end meanwhile. */
const mirrorFound = async (
	mirror: Mirror,
	{organization, membership, user}: Found,
	role: Role,
): Promise<MirroredMember | null> => {
	const tombstones = createTombstoneStore(mirror.trx);
	const isOver =
		(await tombstones.isOrganizationDeleted(organization.id)) || (await tombstones.hasMembershipEnded(membership));
	const mirrored = isOver ? null : await mirrorOrganization(mirror, organization, 'updated');
	if (mirrored === null) {
		return null;
	}

	if (user !== null) {
		await mirrorUser(mirror, user, 'updated');
	}

	return mirrorMember(mirror, {organization: mirrored, membership, role, kind: 'updated'});
};

/**
 * Mirrors a session's organization and membership from the provider if no event has arrived yet (contract/identity 11).
 * All ids are the provider's.
 * @returns whether the caller is a member; false also if the provider fails or has reported its end.
 */
export const fetchOnDemand = async (
	services: FetchDeps,
	{by, ...named}: {by: Caller; organizationId: string; userId: string},
): Promise<boolean> => {
	const found = await askProvider(services, named);
	if (found === null) {
		return false;
	}

	const {membership} = found;
	const role = await resolveRole(services, membership);
	const member = await inMirror(services, by, (mirror) => mirrorFound(mirror, found, role));
	if (member?.clerkMembershipId === membership.id && member.role === storedRole(role)) {
		await stampRole(services, membership, role);
	}

	return member !== null;
};

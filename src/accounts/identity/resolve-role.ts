import {type Role, roleOf} from '../../platform/config/roles.ts';
import {inTime} from '../../platform/within.ts';
import type {Services} from '../../services.ts';
import {emailIn, type ProviderMembership} from './provider-payloads.ts';
import {createUserStore} from './user-store.ts';

/** The time that one step of an event may wait for the provider, which expects an answer within 15 s. */
const PATIENCE_MS = 4000;

/** The result of `work` within the timeout; null if it fails or takes longer, with a log line. */
export const bestEffort = <T>({log}: Pick<Services, 'log'>, action: string, work: Promise<T>): Promise<T | null> => {
	const late = () => new Error(`the identity provider took longer than ${PATIENCE_MS} ms`);
	return inTime(PATIENCE_MS, work, late).catch((error: unknown) => {
		log.warn({err: error}, `could not ${action}`);
		return null;
	});
};

/** The role in the person's invitation; accepted ones count, because by now this one is (contract/identity 9). */
const invitedRole = async (
	{provider, db}: Pick<Services, 'provider' | 'db'>,
	membership: ProviderMembership,
): Promise<Role | null> => {
	const email =
		emailIn(membership.identifier) ?? (await createUserStore(db).findByProviderId(membership.userId))?.email ?? null;
	if (email === null) {
		return null;
	}

	const {data} = await provider.listInvitations(membership.organizationId, {statuses: ['pending', 'accepted'], email});
	const [newest] = data.toSorted((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime());
	return roleOf(newest?.role?.toLowerCase());
};

const isCreator = async (
	services: Pick<Services, 'log' | 'provider'>,
	{organization, organizationId, userId}: ProviderMembership,
) => {
	const createdBy =
		organization?.createdBy ??
		(
			await bestEffort(
				services,
				'read the creator of an organization',
				services.provider.getOrganization(organizationId),
			)
		)?.createdBy;
	return createdBy === userId;
};

/**
 * The role of a new membership (contract/identity 9): that of the invitation, else that of the membership itself
 * (viewer if unknown), else owner for the creator of the organization, else viewer. Whatever the provider does not send
 * in time counts as absent.
 */
export const resolveRole = async (
	services: Pick<Services, 'db' | 'log' | 'provider'>,
	membership: ProviderMembership,
): Promise<Role> => {
	const invited = await bestEffort(services, 'read the invitations of a member', invitedRole(services, membership));
	if (invited !== null) {
		return invited;
	}

	if (membership.role !== null) {
		return roleOf(membership.role.toLowerCase()) ?? 'viewer';
	}

	return (await isCreator(services, membership)) ? 'owner' : 'viewer';
};

/**
 * Writes the role to the provider's membership, which the next session token carries. Skipped if it is equal or was
 * changed there since, because an event may be hours late. Failures are logged and change nothing.
 */
export const stampRole = async (
	services: Pick<Services, 'log' | 'provider'>,
	membership: ProviderMembership,
	role: Role,
): Promise<void> => {
	if (membership.role === role) {
		return;
	}

	const {organizationId, userId} = membership;
	const stamp = async (): Promise<void> => {
		const current = await services.provider.findMembership(organizationId, userId);
		const hasChanged = current !== null && current.role !== null && current.role !== membership.role;
		if (!hasChanged) {
			await services.provider.stampRole(organizationId, userId, role);
		}
	};
	await bestEffort(services, 'write the role of a member to the identity provider', stamp());
};

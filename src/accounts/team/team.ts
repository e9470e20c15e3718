import {withLease} from '../../platform/db/lease.ts';
import {insufficientRole, noProviderOrganization, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Session} from '../auth/session.ts';
import type {Organization} from '../organizations/organization-store.ts';

/** A change of an organization's team: the organization, the actor and the session. */
export type TeamChange = {organization: Organization; by: Caller; session: Session};

/**
 * Serializes changes of an organization's team. The provider holds invitations and roles, so no constraint of ours can
 * enforce the quota of members, or the last owner.
 */
export const inTeam = <T>(
	services: Pick<Services, 'clock' | 'db'>,
	{organization}: TeamChange,
	work: () => Promise<T>,
): Promise<T> => withLease(services, `team:${organization.id}`, work);

/**
 * Only an owner makes or removes an owner (contract/portal 4). Ops sessions pass (contract/identity 5).
 * @throws 403.
 */
export const requireOwner = ({isOps, role}: Session): void => {
	if (!isOps && role !== 'owner') {
		throw insufficientRole();
	}
};

/** The provider's id of an organization. @throws 409 for one created by an operator, which has none. */
export const requireProviderId = ({clerkOrgId}: Organization): string => required(clerkOrgId, noProviderOrganization);

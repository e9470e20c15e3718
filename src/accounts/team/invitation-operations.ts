import Joi from 'joi';
import {type Role, storedRoleOf} from '../../platform/config/roles.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {
	alreadyInvited,
	alreadyMember,
	invitationNotFound,
	organizationNotFound,
	required,
} from '../../platform/errors.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import type {Services} from '../../services.ts';
import {entriesOf, recordAudit} from '../audit/audit-log.ts';
import type {ProviderInvitation} from '../identity/provider-client.ts';
import {bestEffort} from '../identity/resolve-role.ts';
import {isUnanswered, undoIfFailed, undoIfUnanswered} from '../identity/unanswered.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {type PlanDeps, requirePlan, requireQuota} from '../plans/entitlements.ts';
import {createMemberStore, roleField} from './member-store.ts';
import {inTeam, requireOwner, requireProviderId, type TeamChange} from './team.ts';

export type NewInvitation = {email: string; role: Role};

const email = sizeFirst
	.string()
	.email({tlds: false})
	.max(320)
	.custom((address: string) => address.toLowerCase())
	.meta({schema: {description: 'Kept in lower case.'}});
export const newInvitation = Joi.object<NewInvitation>({email: email.required(), role: roleField});

/**
 * In the API's form (contract/portal 1): the role in upper case like a member's, which accepting grants; the status as
 * the provider spells it.
 */
export const invitationJson = ({id, email: address, role, status, createdAt, expiresAt}: ProviderInvitation) => ({
	id,
	email: address,
	role: storedRoleOf(role),
	status,
	createdAt,
	expiresAt,
});

/** The provider's largest page; limited plans never need more. */
const PAGE_SIZE = 500;

type InviteDeps = PlanDeps & Pick<Services, 'db' | 'provider'>;

const openInvitations = (
	{provider}: Pick<Services, 'provider'>,
	organizationId: string,
	page: PageQuery = {page: 1, limit: PAGE_SIZE},
) => provider.listInvitations(organizationId, {statuses: ['pending'], ...page});

/** The open invitations, newest first. */
export const listInvitations = async (
	services: Pick<Services, 'provider'>,
	{organization: {clerkOrgId}, query}: {organization: Organization; query: PageQuery},
) => {
	const {data, total} = clerkOrgId === null ? {data: [], total: 0} : await openInvitations(services, clerkOrgId, query);
	return {data: data.map(invitationJson), total, ...query};
};

const recordInvitation = (
	services: Pick<Services, 'clock' | 'db'>,
	{organization, by}: TeamChange,
	action: string,
	{id, email, role}: Pick<ProviderInvitation, 'id' | 'role'> & {email: string | null},
) =>
	inTransaction(services.db, (trx) =>
		recordAudit(
			trx,
			services.clock.now(),
			by,
			entriesOf('Invitation')(action, {id, organizationId: organization.id}, {email, role: storedRoleOf(role)}),
		),
	);

/** Revokes invitations of a failed attempt. Errors are only logged. */
const withdraw = async (
	services: Pick<Services, 'log' | 'provider'>,
	organizationId: string,
	email: string,
): Promise<void> => {
	try {
		const open = await services.provider.listInvitations(organizationId, {statuses: ['pending'], email});
		for (const {id} of open.data) {
			await services.provider.revokeInvitation(organizationId, id);
		}
	} catch (error) {
		services.log.warn({err: error}, 'could not revoke an invitation at the identity provider');
	}
};

/**
 * Whether one more member may be invited, and this one. Open invitations count as members (contract/portal 4).
 * @throws 402 without a plan or over its quota, 409 for a member or if an invitation is open.
 */
const requireSeat = async (services: InviteDeps, {organization: {id}}: TeamChange, email: string): Promise<string> => {
	// The current plan: it may have changed while this waited for its turn.
	const organization = required(await createOrganizationStore(services.db).findById(id), organizationNotFound);
	const plan = requirePlan(services, organization);
	const organizationId = requireProviderId(organization);
	const members = createMemberStore(services.db, id);
	const open = await openInvitations(services, organizationId);
	// A member that has just accepted is no longer invited, and perhaps not mirrored yet.
	const there = await bestEffort(services, 'count the members', services.provider.countMembers(organizationId));
	requireQuota(plan, 'members', Math.max(await members.count(), there ?? 0) + open.total);
	if (await members.hasEmail(email)) {
		throw alreadyMember(email);
	}

	if (open.data.some((invitation) => invitation.email === email)) {
		throw alreadyInvited(email);
	}

	return organizationId;
};

/**
 * Invites a person; the provider sends the e-mail. A failure leaves no invitation.
 * @throws 402 without a plan or over its quota, 403 if a member who is no owner invites an owner, or the provider's
 * refusal, 409 for a member or if an invitation is open, 502.
 */
export const inviteMember = (
	services: InviteDeps,
	{fields, ...change}: TeamChange & {fields: NewInvitation},
): Promise<ReturnType<typeof invitationJson>> =>
	inTeam(services, change, async () => {
		const {email, role} = fields;
		if (role === 'owner') {
			requireOwner(change.session);
		}

		const organizationId = await requireSeat(services, change, email);
		// Nobody had invited that address before, so any open invitation was created here.
		const undo = () => withdraw(services, organizationId, email);
		const made = await undoIfUnanswered(services.provider.createInvitation(organizationId, fields), undo);
		const invitation = {...made, role};
		await undoIfFailed(recordInvitation(services, change, 'CREATE', invitation), undo);
		return invitationJson(invitation);
	});

/** Revokes an open invitation. @throws 404, 502. */
export const revokeInvitation = async (
	services: Pick<Services, 'clock' | 'db' | 'provider'>,
	{id, ...change}: TeamChange & {id: string},
) => {
	const organizationId = requireProviderId(change.organization);
	const revoked = await services.provider.revokeInvitation(organizationId, id).catch(async (error: unknown) => {
		const open = isUnanswered(error) ? await openInvitations(services, organizationId).catch(() => null) : null;
		if (open === null || open.data.some((invitation) => invitation.id === id)) {
			throw error;
		}

		return {id, email: null, role: null};
	});
	if (revoked === null) {
		throw invitationNotFound();
	}

	await recordInvitation(services, change, 'DELETE', revoked);
	return {id, deleted: true};
};

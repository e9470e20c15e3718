import {type Role, roleOf} from '../../platform/config/roles.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {lastOwner, memberNotFound, noProviderOrganization, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {createMembershipStore} from '../identity/membership-store.ts';
import {inMirror, type MirrorDeps} from '../identity/mirror.ts';
import {endMember, updateMember} from '../identity/mirror-member.ts';
import type {ProviderMembership} from '../identity/provider-client.ts';
import {membershipIdOf} from '../identity/provider-payloads.ts';
import {confirmDeletion, undoIfFailed, undoIfUnanswered} from '../identity/unanswered.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {createMemberStore, type Member, memberJson} from './member-store.ts';
import {inTeam, requireOwner, requireProviderId, type TeamChange} from './team.ts';

type MemberDeps = MirrorDeps & Pick<Services, 'log' | 'provider'>;
type MemberChange = TeamChange & {userId: string};
/** The subject of a change, by the provider's ids. */
type MemberIds = {organizationId: string; userId: string};

export const listMembers = async (
	{db}: Pick<Services, 'db'>,
	{organization, query}: {organization: Organization; query: PageQuery},
) => {
	const found = await createMemberStore(db, organization.id).list(query);
	return {...found, data: found.data.map(memberJson)};
};

/** The member to change. @throws 404; 403 and 409 if an owner must not be removed or demoted. */
const requireChangeable = async (
	{db}: Pick<Services, 'db'>,
	{organization, session, userId}: MemberChange,
	{staysOwner}: {staysOwner: boolean},
): Promise<{member: Member; named: MemberIds}> => {
	const store = createMemberStore(db, organization.id);
	const member = required(await store.find(userId), memberNotFound);
	if (member.role === 'OWNER') {
		requireOwner(session);
		if (!staysOwner && (await store.countOwners()) === 1) {
			throw lastOwner();
		}
	}

	const organizationId = requireProviderId(organization);
	return {member, named: {organizationId, userId: required(member.clerkUserId, noProviderOrganization)}};
};

/** Restores a member's role after a failed change. Errors are only logged. */
const restoreRole = async (
	{provider, log}: Pick<Services, 'provider' | 'log'>,
	{organizationId, userId}: MemberIds,
	{to, from}: {to: Role; from: Role},
) => {
	try {
		const current = await provider.findMembership(organizationId, userId);
		if (current?.role === from) {
			await provider.stampRole(organizationId, userId, to);
		}
	} catch (error) {
		log.warn({err: error}, 'could not restore the former role of a member at the identity provider');
	}
};

/** Writes a role to the mirror with the time of our own call: no older event overrides it. */
const mirrorRole = (services: MirrorDeps, {organization, by, userId}: MemberChange, stamped: ProviderMembership) =>
	inMirror(services, by, async (mirror) => {
		const known = await createMembershipStore(mirror.trx).find(organization.id, userId);
		const before = known?.providerUpdatedAt ?? stamped.updatedAt;
		await updateMember(mirror, {...stamped, updatedAt: before > stamped.updatedAt ? before : stamped.updatedAt});
	});

/**
 * Changes a member's role: at the provider, which puts it into the next session token, and here. A failure leaves both
 * unchanged.
 * @throws 403 if a member who is no owner makes or demotes an owner, 404, 409 for the last owner, 502.
 */
export const changeMemberRole = (services: MemberDeps, {role, ...change}: MemberChange & {role: Role}) =>
	inTeam(services, change, async () => {
		if (role === 'owner') {
			requireOwner(change.session);
		}

		const {member, named} = await requireChangeable(services, change, {staysOwner: role === 'owner'});
		const former = roleOf(member.role.toLowerCase()) ?? 'viewer';
		const undo = () => restoreRole(services, named, {to: former, from: role});
		const stamped = await undoIfUnanswered(services.provider.stampRole(named.organizationId, named.userId, role), undo);
		if (stamped === null) {
			// Removed at the provider; its event has not arrived yet.
			throw memberNotFound();
		}

		await undoIfFailed(mirrorRole(services, change, {...stamped, role}), undo);
		const changed = required(
			await createMemberStore(services.db, change.organization.id).find(change.userId),
			memberNotFound,
		);
		return memberJson(changed);
	});

/**
 * Removes a member at the provider and here, permanently: no late event restores the membership. It may be the caller.
 * @throws 403 for an owner unless the caller is one, 404, 409 for the last owner, 502.
 */
export const removeMember = (services: MemberDeps, change: MemberChange) =>
	inTeam(services, change, async () => {
		const {provider} = services;
		const {member, named} = await requireChangeable(services, change, {staysOwner: false});
		const {organizationId, userId} = named;
		await confirmDeletion(
			provider.removeMember(organizationId, userId),
			async () => (await provider.findMembership(organizationId, userId)) === null,
		);
		await inMirror(services, change.by, (mirror) =>
			endMember(mirror, {
				...named,
				id: member.clerkMembershipId ?? membershipIdOf(organizationId, userId),
				createdAt: member.providerCreatedAt,
			}),
		);
		return {userId: change.userId, deleted: true};
	});

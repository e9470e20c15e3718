import {type Role, storedRole, storedRoleOf} from '../../platform/config/roles.ts';
import {entriesOf} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {createMembershipStore, type MirroredMember} from './membership-store.ts';
import type {Mirror} from './mirror.ts';
import {type EventKind, fillContact, isNewer, mirrorOrganization} from './mirror-organization.ts';
import {ensureUser} from './mirror-user.ts';
import {createOrganizationMirrorStore} from './organization-mirror-store.ts';
import {type EndedMembership, emailIn, isKnownTime, newest, type ProviderMembership} from './provider-payloads.ts';
import {createTombstoneStore} from './tombstone-store.ts';

const entryOf = (action: string, {userId: id, organizationId, role}: MirroredMember) =>
	entriesOf('Member')(action, {id, organizationId}, {role});

/** Whether the row is of a membership that began after this one. */
const isLaterMembership = (
	{clerkMembershipId, providerCreatedAt}: MirroredMember,
	{id, createdAt}: ProviderMembership,
) =>
	clerkMembershipId !== null &&
	clerkMembershipId !== id &&
	isKnownTime(createdAt) &&
	providerCreatedAt !== null &&
	providerCreatedAt > createdAt;

/** Audits a new owner, and uses the first one's address as contact if there is none (contract/identity 1). */
const addOwner = async (
	mirror: Mirror,
	organizationId: string,
	{userId: clerkUserId, identifier}: ProviderMembership,
	since: Date,
): Promise<void> => {
	const owner = {clerkUserId, email: emailIn(identifier), since};
	await createOrganizationMirrorStore(mirror.trx).addOwner(organizationId, owner);
	await fillContact(mirror, organizationId);
};

/** The role to store: that of the newest update, even if it arrived earlier. */
const settleRole = async (
	{trx}: Mirror,
	known: MirroredMember | null,
	{membership, role, kind}: {membership: ProviderMembership; role: Role; kind: EventKind},
): Promise<Pick<MirroredMember, 'role' | 'providerUpdatedAt'>> => {
	const isSame = known?.clerkMembershipId === membership.id;
	const stored =
		isSame && !isNewer(kind, membership.updatedAt, known.providerUpdatedAt)
			? {role: known.role, providerUpdatedAt: known.providerUpdatedAt}
			: {role: storedRole(role), providerUpdatedAt: membership.updatedAt};
	const early = await createMembershipStore(trx).takeEarlyRole(membership.id);
	return early !== null && isNewer('updated', early.updatedAt, stored.providerUpdatedAt)
		? {role: early.role, providerUpdatedAt: early.updatedAt}
		: stored;
};

/**
 * Updates a membership to the provider's state, creating the person's row if necessary. An ended membership stays
 * ended; a membership that began before the row's is ignored.
 * @param role the resolved role, see `resolve-role.ts`. @returns the person's current row, or null without one.
 */
export const mirrorMember = async (
	mirror: Mirror,
	{
		organization,
		membership,
		role,
		kind,
	}: {organization: Pick<Organization, 'id'>; membership: ProviderMembership; role: Role; kind: EventKind},
): Promise<MirroredMember | null> => {
	const {trx, now, record} = mirror;
	const store = createMembershipStore(trx);
	const user = await ensureUser(mirror, membership);
	if (role === 'owner') {
		await addOwner(mirror, organization.id, membership, membership.createdAt);
	}

	if (await createTombstoneStore(trx).hasMembershipEnded(membership)) {
		return null;
	}

	const known = (await store.findByProvider(membership)) ?? (await store.find(organization.id, user.id));
	if (known !== null && isLaterMembership(known, membership)) {
		return known;
	}

	const member: MirroredMember = {
		organizationId: known?.organizationId ?? organization.id,
		userId: known?.userId ?? user.id,
		clerkMembershipId: membership.id,
		providerCreatedAt: membership.createdAt,
		...(await settleRole(mirror, known, {membership, role, kind})),
	};
	if (known === null) {
		await store.insert(member, now);
		await record(entryOf('CREATE', member));
	} else {
		await store.update(member, now);
		if (known.role !== member.role) {
			await record(entryOf('UPDATE', member));
		}
	}

	const isOwnerByUpdate = member.role === 'OWNER' && role !== 'owner';
	if (isOwnerByUpdate) {
		await addOwner(mirror, member.organizationId, membership, member.providerUpdatedAt ?? now);
	}

	return member;
};

/** As `mirrorMember`, and creates the organization from the membership's data if necessary. */
export const mirrorMemberAndOrganization = async (
	mirror: Mirror,
	{membership, role, kind}: {membership: ProviderMembership; role: Role; kind: EventKind},
): Promise<MirroredMember | null> => {
	const {organizationId: id, createdAt} = membership;
	const mentioned = membership.organization ?? {id, name: id, createdBy: null, createdAt, updatedAt: createdAt};
	const organization = await mirrorOrganization(mirror, mentioned, 'mentioned');
	return organization === null ? null : mirrorMember(mirror, {organization, membership, role, kind});
};

/**
 * The role in an update (contract/identity 7). Without a row it only records the role, for the later 'created'. An
 * update without a role keeps the current one; an unknown one is VIEWER.
 */
export const updateMember = async (mirror: Mirror, membership: ProviderMembership): Promise<void> => {
	const {trx, now, record} = mirror;
	if (membership.role === null || (await createTombstoneStore(trx).hasMembershipEnded(membership))) {
		return;
	}

	const store = createMembershipStore(trx);
	const {id, updatedAt} = membership;
	const role = storedRoleOf(membership.role);
	const known = await store.findByProvider(membership);
	if (known?.clerkMembershipId !== id) {
		await store.storeEarlyRole({id, role, updatedAt}, now);
	}

	if (known === null || isLaterMembership(known, membership)) {
		return;
	}

	if (role === 'OWNER') {
		await addOwner(mirror, known.organizationId, membership, isKnownTime(updatedAt) ? updatedAt : now);
	}

	if (isNewer('updated', updatedAt, known.providerUpdatedAt)) {
		const member = {...known, role, providerUpdatedAt: newest(updatedAt, known.providerUpdatedAt)};
		await store.update(member, now);
		if (role !== known.role) {
			await record(entryOf('UPDATE', member));
		}
	}
};

/**
 * Removes a membership and records its end. A membership that began later than the ended one stays. The ids are not
 * compared, because a removal must never miss.
 */
export const endMember = async ({trx, now, record}: Mirror, ended: EndedMembership): Promise<void> => {
	await createTombstoneStore(trx).addMembership(ended, now);
	const store = createMembershipStore(trx);
	await store.takeEarlyRole(ended.id);
	const known = await store.findByProvider(ended);
	if (known === null) {
		return;
	}

	const {createdAt} = ended;
	const began = known.providerCreatedAt;
	const isLater = createdAt !== null && began !== null && began > createdAt;
	if (!isLater) {
		await store.remove(known);
		await record(entryOf('DELETE', known));
	}
};

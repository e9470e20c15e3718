import {
	changedAt,
	creatorRole,
	type Directory,
	findOrganization,
	findUser,
	membershipsWhere,
	mergeMetadata,
} from './directory.ts';
import {type MembershipRecord, membershipRecord, primaryEmailOf} from './present.ts';
import {alreadyMember, minimumPermissionsNeeded} from './provider-errors.ts';
import {type Metadata, newId, newMembership, type Ref, type StoredMembership, type SystemRole} from './records.ts';

export type MembershipInput = {
	id?: string;
	organization: Ref;
	user: Ref;
	/** The application's role, which goes into the public metadata. */
	role?: string;
	publicMetadata?: Metadata;
	systemRole?: SystemRole;
};

export const createMembership = (directory: Directory, input: MembershipInput): MembershipRecord => {
	const organization = findOrganization(directory, input.organization);
	const user = findUser(directory, input.user);
	if (membershipsWhere(directory, {organizationId: organization.id, userId: user.id}).length > 0) {
		throw alreadyMember(primaryEmailOf(user) ?? user.id);
	}

	const now = directory.clock.now().getTime();
	const membership = newMembership(
		{
			id: input.id ?? newId('orgmem'),
			role: input.systemRole ?? 'org:member',
			public_metadata: {...input.publicMetadata, ...(input.role === undefined ? {} : {role: input.role})},
			organizationId: organization.id,
			userId: user.id,
		},
		now,
	);
	directory.memberships.set(membership.id, membership);
	const record = membershipRecord(directory, membership);
	directory.emit('organizationMembership.created', record);
	return record;
};

const changed = (directory: Directory, membership: StoredMembership): MembershipRecord => {
	membership.updated_at = changedAt(directory, membership);
	const record = membershipRecord(directory, membership);
	directory.emit('organizationMembership.updated', record);
	return record;
};

export const updateMembershipMetadata = (
	directory: Directory,
	membership: StoredMembership,
	{publicMetadata = {}, privateMetadata = {}}: {publicMetadata?: Metadata; privateMetadata?: Metadata},
): MembershipRecord => {
	membership.public_metadata = mergeMetadata(membership.public_metadata, publicMetadata);
	membership.private_metadata = mergeMetadata(membership.private_metadata, privateMetadata);
	return changed(directory, membership);
};

/** The provider keeps one member with the creator's permissions in every organization that has one. */
const refuseLossOfLastPrivileged = (directory: Directory, membership: StoredMembership): void => {
	const privileged = membershipsWhere(directory, {organizationId: membership.organizationId}).filter(
		({role}) => role === creatorRole,
	);
	if (privileged.length === 1 && privileged[0] === membership) {
		throw minimumPermissionsNeeded();
	}
};

/** Ends a membership without asking. The event carries all of it, not a stub. */
export const deleteMembership = (directory: Directory, membership: StoredMembership): MembershipRecord => {
	directory.memberships.delete(membership.id);
	const record = membershipRecord(directory, membership);
	directory.emit('organizationMembership.deleted', record);
	return record;
};

/** Ends a membership as the API does. */
export const removeMember = (directory: Directory, membership: StoredMembership): MembershipRecord => {
	refuseLossOfLastPrivileged(directory, membership);
	return deleteMembership(directory, membership);
};

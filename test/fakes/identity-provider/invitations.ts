import {
	changedAt,
	creatorRole,
	type Directory,
	findInvitation,
	findMembership,
	findOrganization,
	findUser,
	findUserByEmail,
	membershipsWhere,
} from './directory.ts';
import {createMembership} from './memberships.ts';
import {invitationNow, type MembershipRecord, pendingInvitations} from './present.ts';
import {
	alreadyMember,
	invitationNotPending,
	invitationNotUnique,
	membershipQuotaExceeded,
	notAllowed,
} from './provider-errors.ts';
import {type InvitationRecord, type Metadata, newId, newInvitation, type Ref, type SystemRole} from './records.ts';
import {createUser} from './users.ts';

export type InvitationInput = {
	organization: Ref;
	email: string;
	/** The application's role, which goes into the public metadata. */
	role?: string;
	systemRole?: SystemRole;
	publicMetadata?: Metadata;
	privateMetadata?: Metadata;
	redirectUrl?: string | null;
	expiresInDays?: number;
	inviterUserId?: string | null;
};

const day = 24 * 60 * 60 * 1000;
const defaultExpiryDays = 30;

export const createInvitation = (directory: Directory, input: InvitationInput): InvitationRecord => {
	const organization = findOrganization(directory, input.organization);
	const {email, systemRole = 'org:member', expiresInDays = defaultExpiryDays, redirectUrl = null} = input;
	const members = membershipsWhere(directory, {organizationId: organization.id});
	const invited = findUserByEmail(directory, email);
	if (invited !== null && members.some(({userId}) => userId === invited.id)) {
		throw alreadyMember(email);
	}

	const pending = pendingInvitations(directory, organization.id);
	if (pending.some((invitation) => invitation.email_address.toLowerCase() === email.toLowerCase())) {
		throw invitationNotUnique();
	}

	const seats = organization.max_allowed_memberships;
	if (seats > 0 && members.length + pending.length >= seats) {
		throw membershipQuotaExceeded(seats);
	}

	const now = directory.clock.now().getTime();
	const id = newId('orginv');
	const invitation = newInvitation(
		{
			id,
			email_address: email,
			role: systemRole,
			organization_id: organization.id,
			public_metadata: {...input.publicMetadata, ...(input.role === undefined ? {} : {role: input.role})},
			private_metadata: input.privateMetadata ?? {},
			url: redirectUrl === null ? null : `${redirectUrl}?__clerk_ticket=${id}`,
			expires_at: now + expiresInDays * day,
			inviter_id: input.inviterUserId ?? null,
		},
		now,
	);
	directory.invitations.set(id, invitation);
	directory.emit('organizationInvitation.created', invitation);
	return structuredClone(invitation);
};

/** An acting member needs the permission to manage members, which the creator's system role has. */
export const requireManager = (directory: Directory, organization: Ref, userId: string | undefined): void => {
	if (userId !== undefined && findMembership(directory, organization, userId).role !== creatorRole) {
		throw notAllowed();
	}
};

const findPending = (directory: Directory, ref: Ref): InvitationRecord => {
	const invitation = findInvitation(directory, ref);
	if (invitationNow(directory, invitation).status !== 'pending') {
		throw invitationNotPending();
	}

	return invitation;
};

const settle = (directory: Directory, invitation: InvitationRecord, status: 'accepted' | 'revoked'): void => {
	invitation.status = status;
	invitation.updated_at = changedAt(directory, invitation);
	directory.emit(`organizationInvitation.${status}`, invitation);
};

export const revokeInvitation = (directory: Directory, ref: Ref): InvitationRecord => {
	const invitation = findPending(directory, ref);
	settle(directory, invitation, 'revoked');
	return structuredClone(invitation);
};

/**
 * The invited person follows the link in the mail: signs up if the address is new, and becomes a member with the
 * invitation's metadata.
 * @param user who accepts; by default the owner of the address.
 */
export const acceptInvitation = (directory: Directory, ref: Ref, user?: Ref): MembershipRecord => {
	const invitation = findPending(directory, ref);
	const {email_address: email} = invitation;
	const owner = () => findUserByEmail(directory, email) ?? createUser(directory, {email});
	const accepting = user === undefined ? owner() : findUser(directory, user);
	settle(directory, invitation, 'accepted');
	return createMembership(directory, {
		organization: invitation.organization_id,
		user: accepting,
		systemRole: invitation.role,
		publicMetadata: structuredClone(invitation.public_metadata),
	});
};

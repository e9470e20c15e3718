import {type Directory, findOrganization, findUser, membershipsWhere} from './directory.ts';
import type {InvitationRecord, StoredMembership, StoredOrganization, UserRecord} from './records.ts';

export const primaryEmailOf = (user: UserRecord): string | null =>
	user.email_addresses.find(({id}) => id === user.primary_email_address_id)?.email_address ?? null;

/** An invitation as it is now: what is past its time has expired, without an event. */
export const invitationNow = ({clock}: Directory, invitation: InvitationRecord): InvitationRecord => {
	const isOver = invitation.status === 'pending' && invitation.expires_at <= clock.now().getTime();
	return structuredClone(isOver ? {...invitation, status: 'expired' as const} : invitation);
};

export const invitationsOf = (directory: Directory, organizationId: string): InvitationRecord[] =>
	[...directory.invitations.values()]
		.filter((invitation) => invitation.organization_id === organizationId)
		.map((invitation) => invitationNow(directory, invitation));

export const pendingInvitations = (directory: Directory, organizationId: string): InvitationRecord[] =>
	invitationsOf(directory, organizationId).filter(({status}) => status === 'pending');

export const organizationRecord = (directory: Directory, organization: StoredOrganization) =>
	structuredClone({
		...organization,
		members_count: membershipsWhere(directory, {organizationId: organization.id}).length,
		pending_invitations_count: pendingInvitations(directory, organization.id).length,
	});

export type OrganizationRecord = ReturnType<typeof organizationRecord>;

/** A membership as the provider sends it: with its organization and its user's public fields. */
export const membershipRecord = (directory: Directory, stored: StoredMembership) => {
	const {organizationId, userId, ...membership} = stored;
	const user = findUser(directory, userId);
	return structuredClone({
		...membership,
		organization: organizationRecord(directory, findOrganization(directory, organizationId)),
		public_user_data: {
			user_id: userId,
			identifier: primaryEmailOf(user) ?? user.username,
			first_name: user.first_name,
			last_name: user.last_name,
			image_url: user.image_url,
			profile_image_url: user.image_url,
			has_image: user.has_image,
		},
	});
};

export type MembershipRecord = ReturnType<typeof membershipRecord>;

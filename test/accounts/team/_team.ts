import type {Role} from '../../../src/accounts/auth/roles.ts';
import {idOf} from '../../fakes/identity-provider/records.ts';
import {type Member, member, type Portal} from '../../helpers/portal.ts';

/** Members of one organization, each with a role; the first one brings the organization and its plan. */
export const team = async <const R extends readonly Role[]>(
	portal: Portal,
	roles: R,
	made: {plan?: string | null} = {},
): Promise<{-readonly [K in keyof R]: Member}> => {
	const members: Member[] = [];
	for (const role of roles) {
		const [first] = members;
		const joining = first === undefined ? made : {organization: first.organization};
		members.push(await member(portal, {role, appConfig: null, ...joining}));
	}

	return members as {-readonly [K in keyof R]: Member};
};

/** What an answer of status and message is like. */
export const refusal = (status: number, message: string) => ({status, body: {message}});
export const tooLow = refusal(403, 'Insufficient role');
export const unavailable = refusal(502, 'Identity provider unavailable');

/** A member's role at the provider and here; null for others. */
export const rolesOf = async ({provider, services: {db}}: Portal, {clerkOrgId, user, organization}: Member) => {
	const there = [...provider.directory.memberships.values()].find(
		({organizationId, userId}) => organizationId === idOf(clerkOrgId) && userId === user.clerkUserId,
	);
	const [here] = (await db('org_members').where({organization_id: organization.id, user_id: user.id})) as Array<{
		role: string;
	}>;
	return {there: there?.public_metadata.role ?? null, here: here?.role ?? null};
};

/** The open invitations that the provider has for an organization. */
export const openInvitations = ({provider}: Portal, {clerkOrgId}: Member) =>
	[...provider.directory.invitations.values()].filter(
		(invitation) => invitation.organization_id === clerkOrgId && invitation.status === 'pending',
	);

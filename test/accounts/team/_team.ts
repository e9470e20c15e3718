import test from 'ava';
import type {Role} from '../../../src/platform/config/roles.ts';
import {idOf} from '../../fakes/identity-provider/records.ts';
import {type Member, member, portalOf} from '../../helpers/portal.ts';

/** For all files of the folder that share a process: each test has organizations of its own. */
export const portal = portalOf(test);

/** Members of one organization, each with a role; the first one brings the organization and its plan. */
export const team = async <const R extends readonly Role[]>(
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
export const rolesOf = async ({clerkOrgId, user, organization}: Member) => {
	const {db} = portal.services;
	const there = [...portal.provider.directory.memberships.values()].find(
		({organizationId, userId}) => organizationId === idOf(clerkOrgId) && userId === user.clerkUserId,
	);
	const [here] = (await db('org_members').where({organization_id: organization.id, user_id: user.id})) as Array<{
		role: string;
	}>;
	return {there: there?.public_metadata.role ?? null, here: here?.role ?? null};
};

/** The open invitations that the provider has for an organization. */
export const openInvitations = ({clerkOrgId}: Member) =>
	[...portal.provider.directory.invitations.values()].filter(
		(invitation) => invitation.organization_id === clerkOrgId && invitation.status === 'pending',
	);

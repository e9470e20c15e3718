import type {Db} from '../db/db.ts';
import {type Organization, type OrganizationRow, toOrganization} from '../organizations/organization-store.ts';

/** A mirrored person. */
export type User = {id: string; email: string | null; name: string};

/** Whom a session names: by the provider's ids. */
type Named = {organizationId: string; userId: string};

type MembershipRow = OrganizationRow & {user_id: string | null; user_email: string | null; user_name: string | null};

/** The statements behind `organization-access.ts`. */
export const createAccessStore = (db: Db) => ({
	findUser: async (clerkUserId: string): Promise<User | null> => {
		const [row] = (await db('users').where({clerk_user_id: clerkUserId}).select('id', 'email', 'name')) as User[];
		return row ?? null;
	},

	/** The mirrored organization, and its member of that name; null without the organization. */
	findMembership: async (named: Named): Promise<{organization: Organization; member: User | null} | null> => {
		const {rows} = await db.raw<{rows: MembershipRow[]}>(
			`SELECT organizations.*, member.id AS user_id, member.email AS user_email, member.name AS user_name
			FROM organizations
			LEFT JOIN LATERAL (
				SELECT users.id, users.email, users.name FROM org_members
				JOIN users ON users.id = org_members.user_id
				WHERE org_members.organization_id = organizations.id AND users.clerk_user_id = :userId
			) AS member ON true
			WHERE organizations.clerk_org_id = :organizationId`,
			named,
		);
		const [row] = rows;
		if (row === undefined) {
			return null;
		}

		const {user_id: id, user_email: email, user_name: name} = row;
		return {organization: toOrganization(row), member: id === null ? null : {id, email, name: name ?? ''}};
	},

	/** Whether the provider told that a membership of this person there has ended. */
	hasEnded: async ({organizationId, userId}: Named): Promise<boolean> => {
		const rows = await db('identity_tombstones')
			.where({kind: 'membership', clerk_org_id: organizationId, clerk_user_id: userId})
			.limit(1);
		return rows.length > 0;
	},
});

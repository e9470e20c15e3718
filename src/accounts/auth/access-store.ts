import type {Db} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {type Organization, organizationColumns} from '../organizations/organization-store.ts';

/** A mirrored person. */
export type User = {id: string; email: string | null; name: string};

/** The organization and the user of a session, by the provider's ids. */
export type ProviderIds = {organizationId: string; userId: string};

type MembershipRow = Organization & {userId: string | null; userEmail: string | null; userName: string | null};

/** The statements behind `organization-access.ts`. */
export const createAccessStore = (db: Db) => ({
	findUser: async (clerkUserId: string): Promise<User | null> => {
		const user: User | undefined = await db('users').where({clerk_user_id: clerkUserId}).first('id', 'email', 'name');
		return user ?? null;
	},

	/** The mirrored organization, and its member of that name; null without the organization. */
	findMembership: async ({
		organizationId,
		userId,
	}: ProviderIds): Promise<{organization: Organization; member: User | null} | null> => {
		const [row] = await run<MembershipRow>(
			db,
			sql`SELECT ${organizationColumns.of('organizations')},
				member.id AS "userId", member.email AS "userEmail", member.name AS "userName"
			FROM organizations
			LEFT JOIN LATERAL (
				SELECT users.id, users.email, users.name FROM org_members
				JOIN users ON users.id = org_members.user_id
				WHERE org_members.organization_id = organizations.id AND users.clerk_user_id = ${userId}
			) AS member ON true
			WHERE organizations.clerk_org_id = ${organizationId}`,
		);
		if (row === undefined) {
			return null;
		}

		const {userId: id, userEmail: email, userName: name, ...organization} = row;
		return {organization, member: id === null ? null : {id, email, name: name ?? ''}};
	},

	/** Whether the provider has reported the end of a membership of this person there. */
	hasEnded: async ({organizationId, userId}: ProviderIds): Promise<boolean> => {
		const rows = await db('identity_tombstones')
			.where({kind: 'membership', clerk_org_id: organizationId, clerk_user_id: userId})
			.limit(1);
		return rows.length > 0;
	},
});

/**
 * The organization that a user is a member of here, or null: one per user (contract/identity 1). One that the
 * provider has deleted does not count: its members can have another.
 * @param clerkUserId the provider's id.
 */
export const findOwnOrganization = async (db: Db, clerkUserId: string): Promise<Organization | null> => {
	const [organization] = await run<Organization>(
		db,
		sql`SELECT ${organizationColumns.of('organizations')} FROM users
		JOIN org_members ON org_members.user_id = users.id
		JOIN organizations ON organizations.id = org_members.organization_id
		WHERE users.clerk_user_id = ${clerkUserId} AND NOT EXISTS (
			SELECT 1 FROM identity_tombstones WHERE kind = 'organization' AND provider_id = organizations.clerk_org_id
		)
		ORDER BY organizations.status, org_members.created_at LIMIT 1`,
	);
	return organization ?? null;
};

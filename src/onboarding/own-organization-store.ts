import type {Db} from '../db/db.ts';
import {type Organization, type OrganizationRow, toOrganization} from '../organizations/organization-store.ts';

/**
 * The organization that somebody is a member of here, or null: one per user (contract/identity 1). One that the
 * provider has deleted counts no more, so that its members can have another.
 * @param clerkUserId the provider's id.
 */
export const findOwnOrganization = async (db: Db, clerkUserId: string): Promise<Organization | null> => {
	const {rows} = await db.raw<{rows: OrganizationRow[]}>(
		`SELECT organizations.* FROM users
		JOIN org_members ON org_members.user_id = users.id
		JOIN organizations ON organizations.id = org_members.organization_id
		WHERE users.clerk_user_id = ? AND NOT EXISTS (
			SELECT 1 FROM identity_tombstones WHERE kind = 'organization' AND provider_id = organizations.clerk_org_id
		)
		ORDER BY organizations.status, org_members.created_at LIMIT 1`,
		[clerkUserId],
	);
	const [row] = rows;
	return row === undefined ? null : toOrganization(row);
};

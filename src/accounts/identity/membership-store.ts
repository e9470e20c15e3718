import type {StoredRole} from '../../platform/config/roles.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
import {isKnownTime} from './provider-payloads.ts';

/** A mirrored membership. The pair of organization and user is its key (contract/identity 1). */
export type MirroredMember = {
	organizationId: string;
	userId: string;
	role: StoredRole;
	/** The provider's membership; null if it named none. */
	clerkMembershipId: string | null;
	providerCreatedAt: Date | null;
	providerUpdatedAt: Date | null;
};

const columns: Columns<MirroredMember> = columnsOf(
	'organization_id, user_id, role, clerk_membership_id, provider_created_at, provider_updated_at',
);

/** The provider's date of the membership, if it named one, is when the person joined. */
const joinedAt = ({providerCreatedAt}: MirroredMember) =>
	providerCreatedAt !== null && isKnownTime(providerCreatedAt) ? {createdAt: providerCreatedAt} : {};

/** The statements on mirrored memberships, in a transaction of the mirror. */
export const createMembershipStore = (trx: Db) => {
	return {
		find: async (organizationId: string, userId: string): Promise<MirroredMember | null> =>
			(await trx('org_members').where({organization_id: organizationId, user_id: userId}).first(columns.list)) ?? null,

		/**
		 * The row of a provider's membership: the one with its id, else the person's row in that organization. All ids are
		 * the provider's.
		 */
		findByProvider: async ({
			id,
			organizationId,
			userId,
		}: {
			id: string;
			organizationId: string | null;
			userId: string | null;
		}): Promise<MirroredMember | null> => {
			const [member] = await run<MirroredMember>(
				trx,
				sql`SELECT ${columns.of('org_members')} FROM org_members
				JOIN organizations ON organizations.id = org_members.organization_id
				JOIN users ON users.id = org_members.user_id
				WHERE clerk_membership_id = ${id} OR (clerk_org_id = ${organizationId} AND clerk_user_id = ${userId})
				ORDER BY clerk_membership_id IS NOT DISTINCT FROM ${id} DESC LIMIT 1`,
			);
			return member ?? null;
		},

		insert: async (member: MirroredMember, now: Date): Promise<void> => {
			await trx('org_members').insert(toColumns({...member, createdAt: now, updatedAt: now, ...joinedAt(member)}));
		},

		update: async (member: MirroredMember, now: Date): Promise<void> => {
			await trx('org_members')
				.where({organization_id: member.organizationId, user_id: member.userId})
				.update(toColumns({...member, updatedAt: now, ...joinedAt(member)}));
		},

		remove: async ({organizationId, userId}: MirroredMember): Promise<void> => {
			await trx('org_members').where({organization_id: organizationId, user_id: userId}).delete();
		},

		/** Stores the newest role of an 'updated' event if the membership does not exist yet. */
		storeEarlyRole: async (
			{id, role, updatedAt}: {id: string; role: StoredRole; updatedAt: Date},
			now: Date,
		): Promise<void> => {
			await execute(
				trx,
				sql`INSERT INTO awaited_roles (clerk_membership_id, role, provider_updated_at, received_at)
				VALUES (${id}, ${role}, ${updatedAt}, ${now})
				ON CONFLICT (clerk_membership_id) DO UPDATE
				SET role = excluded.role, provider_updated_at = excluded.provider_updated_at, received_at = excluded.received_at
				WHERE awaited_roles.provider_updated_at <= excluded.provider_updated_at`,
			);
		},

		takeEarlyRole: async (id: string): Promise<{role: StoredRole; updatedAt: Date} | null> => {
			const [early]: Array<{role: StoredRole; updatedAt: Date}> = await trx('awaited_roles')
				.where({clerk_membership_id: id})
				.delete()
				.returning(['role', 'provider_updated_at as updatedAt']);
			return early ?? null;
		},
	};
};

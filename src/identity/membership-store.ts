import type {StoredRole} from '../auth/roles.ts';
import type {Db} from '../db/db.ts';
import {isTold} from './provider-payloads.ts';

/** A mirrored membership. The pair of organization and user is its key (contract/identity 1). */
export type MirroredMember = {
	organizationId: string;
	userId: string;
	role: StoredRole;
	/** The provider's membership; null where it told of none. */
	clerkMembershipId: string | null;
	providerCreatedAt: Date | null;
	providerUpdatedAt: Date | null;
};

type Row = {
	organization_id: string;
	user_id: string;
	role: StoredRole;
	clerk_membership_id: string | null;
	provider_created_at: Date | null;
	provider_updated_at: Date | null;
};

const toMember = (row: Row): MirroredMember => ({
	organizationId: row.organization_id,
	userId: row.user_id,
	role: row.role,
	clerkMembershipId: row.clerk_membership_id,
	providerCreatedAt: row.provider_created_at,
	providerUpdatedAt: row.provider_updated_at,
});

const toColumns = (member: MirroredMember) => ({
	role: member.role,
	clerk_membership_id: member.clerkMembershipId,
	provider_created_at: member.providerCreatedAt,
	provider_updated_at: member.providerUpdatedAt,
	// When somebody joined is when the provider says so.
	...(member.providerCreatedAt !== null && isTold(member.providerCreatedAt)
		? {created_at: member.providerCreatedAt}
		: {}),
});

/** The statements on mirrored memberships, in a transaction of the mirror. */
export const createMembershipStore = (trx: Db) => {
	const first = (row: Row | undefined): MirroredMember | null => (row === undefined ? null : toMember(row));

	return {
		find: async (organizationId: string, userId: string): Promise<MirroredMember | null> => {
			const rows: Row[] = await trx('org_members').where({organization_id: organizationId, user_id: userId});
			return first(rows[0]);
		},

		/**
		 * The row that stands for a membership of the provider: the one with its id, else whichever that person has there.
		 * All ids are the provider's.
		 */
		findByProvider: async (named: {
			id: string;
			organizationId: string | null;
			userId: string | null;
		}): Promise<MirroredMember | null> => {
			const {rows} = await trx.raw<{rows: Row[]}>(
				`SELECT org_members.* FROM org_members
				JOIN organizations ON organizations.id = org_members.organization_id
				JOIN users ON users.id = org_members.user_id
				WHERE clerk_membership_id = :id OR (clerk_org_id = :organizationId AND clerk_user_id = :userId)
				ORDER BY clerk_membership_id IS NOT DISTINCT FROM :id DESC LIMIT 1`,
				named,
			);
			return first(rows[0]);
		},

		insert: async (member: MirroredMember, now: Date): Promise<void> => {
			await trx('org_members').insert({
				organization_id: member.organizationId,
				user_id: member.userId,
				created_at: now,
				updated_at: now,
				...toColumns(member),
			});
		},

		update: async (member: MirroredMember, now: Date): Promise<void> => {
			await trx('org_members')
				.where({organization_id: member.organizationId, user_id: member.userId})
				.update({...toColumns(member), updated_at: now});
		},

		remove: async ({organizationId, userId}: MirroredMember): Promise<void> => {
			await trx('org_members').where({organization_id: organizationId, user_id: userId}).delete();
		},

		/** Keeps the newest role that an 'updated' told of a membership that is not there yet. */
		awaitRole: async (
			{id, role, updatedAt}: {id: string; role: StoredRole; updatedAt: Date},
			now: Date,
		): Promise<void> => {
			await trx.raw(
				`INSERT INTO awaited_roles (clerk_membership_id, role, provider_updated_at, received_at)
				VALUES (:id, :role, :updatedAt, :now)
				ON CONFLICT (clerk_membership_id) DO UPDATE
				SET role = excluded.role, provider_updated_at = excluded.provider_updated_at, received_at = excluded.received_at
				WHERE awaited_roles.provider_updated_at <= excluded.provider_updated_at`,
				{id, role, updatedAt, now},
			);
		},

		takeAwaitedRole: async (id: string): Promise<{role: StoredRole; updatedAt: Date} | null> => {
			const [row] = (await trx('awaited_roles').where({clerk_membership_id: id}).delete().returning('*')) as Array<{
				role: StoredRole;
				provider_updated_at: Date;
			}>;
			return row === undefined ? null : {role: row.role, updatedAt: row.provider_updated_at};
		},

		forgetRolesAwaitedSince: (then: Date): Promise<number> =>
			trx('awaited_roles').where('received_at', '<', then).delete(),
	};
};

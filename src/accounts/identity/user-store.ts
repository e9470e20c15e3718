import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {execute, sql} from '../../platform/db/sql.ts';

/** A mirrored person (contract/identity 1). */
export type MirroredUser = {
	id: string;
	/** The provider's id; null for a row that is older than the provider's account. */
	clerkUserId: string | null;
	email: string | null;
	isEmailVerified: boolean;
	name: string;
	lastLoginAt: Date | null;
	/** Null if the user is known from a membership alone. */
	providerUpdatedAt: Date | null;
};
type Values = Omit<MirroredUser, 'id'>;

const columns: Columns<MirroredUser> = columnsOf(
	'id, clerk_user_id, email, is_email_verified, name, last_login_at, provider_updated_at',
);

/** The statements on mirrored people, in a transaction of the mirror. */
export const createUserStore = (trx: Db) => {
	const first = async (where: Record<string, unknown>): Promise<MirroredUser | null> =>
		(await trx('users').where(where).first(columns.list)) ?? null;

	return {
		findByProviderId: (clerkUserId: string) => first({clerk_user_id: clerkUserId}),

		/** @param email lower case. */
		findByEmail: (email: string) => first({email}),

		insert: async (values: Values, now: Date): Promise<MirroredUser> =>
			onlyRow(
				await trx('users')
					.insert(toColumns({...values, id: randomUUID(), createdAt: now, updatedAt: now}))
					.returning(columns.list),
			),

		update: async (id: string, values: Values, now: Date): Promise<MirroredUser> =>
			onlyRow(
				await trx('users')
					.where({id})
					.update(toColumns({...values, id, updatedAt: now}))
					.returning(columns.list),
			),

		/** Frees the address for a user who has proved to own it. */
		clearEmail: async (id: string, now: Date): Promise<void> => {
			await trx('users').where({id}).update({email: null, is_email_verified: false, updated_at: now});
		},

		/** Moves a row's memberships to another row, replacing its memberships of the same organizations, and removes the first row. */
		merge: async ({from, into}: {from: string; into: string}, now: Date): Promise<void> => {
			await execute(
				trx,
				sql`DELETE FROM org_members WHERE user_id = ${into} AND organization_id IN (
					SELECT organization_id FROM org_members WHERE user_id = ${from}
				)`,
			);
			await trx('org_members').where({user_id: from}).update({user_id: into, updated_at: now});
			await trx('users').where({id: from}).delete();
		},
	};
};

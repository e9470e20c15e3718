import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';

/** A mirrored person (contract/identity 1). */
export type MirroredUser = {
	id: string;
	/** The provider's id; null for a row that is older than the provider's account. */
	clerkUserId: string | null;
	email: string | null;
	isEmailVerified: boolean;
	name: string;
	lastLoginAt: Date | null;
	/** Null where only a membership told of the user. */
	providerUpdatedAt: Date | null;
};
type Values = Omit<MirroredUser, 'id'>;

type Row = {
	id: string;
	clerk_user_id: string | null;
	email: string | null;
	is_email_verified: boolean;
	name: string;
	last_login_at: Date | null;
	provider_updated_at: Date | null;
};

const toUser = (row: Row): MirroredUser => ({
	id: row.id,
	clerkUserId: row.clerk_user_id,
	email: row.email,
	isEmailVerified: row.is_email_verified,
	name: row.name,
	lastLoginAt: row.last_login_at,
	providerUpdatedAt: row.provider_updated_at,
});

const toColumns = (values: Values) => ({
	clerk_user_id: values.clerkUserId,
	email: values.email,
	is_email_verified: values.isEmailVerified,
	name: values.name,
	last_login_at: values.lastLoginAt,
	provider_updated_at: values.providerUpdatedAt,
});

/** The statements on mirrored people, in a transaction of the mirror. */
export const createUserStore = (trx: Db) => {
	const first = async (where: Record<string, unknown>): Promise<MirroredUser | null> => {
		const [row] = (await trx('users').where(where)) as Row[];
		return row === undefined ? null : toUser(row);
	};

	return {
		findByProviderId: (clerkUserId: string) => first({clerk_user_id: clerkUserId}),

		/** @param email lower case. */
		findByEmail: (email: string) => first({email}),

		insert: async (values: Values, now: Date): Promise<MirroredUser> =>
			toUser(
				onlyRow(
					(await trx('users')
						.insert({id: randomUUID(), ...toColumns(values), created_at: now, updated_at: now})
						.returning('*')) as Row[],
				),
			),

		update: async (id: string, values: Values, now: Date): Promise<MirroredUser> =>
			toUser(
				onlyRow(
					(await trx('users')
						.where({id})
						.update({...toColumns(values), updated_at: now})
						.returning('*')) as Row[],
				),
			),

		/** Frees the address for somebody who has proved that it is theirs. */
		clearEmail: async (id: string, now: Date): Promise<void> => {
			await trx('users').where({id}).update({email: null, is_email_verified: false, updated_at: now});
		},

		/** Gives one row's memberships to another, in whose place they stand, and removes the row. */
		merge: async ({from, into}: {from: string; into: string}, now: Date): Promise<void> => {
			await trx.raw(
				`DELETE FROM org_members WHERE user_id = :into AND organization_id IN (
					SELECT organization_id FROM org_members WHERE user_id = :from
				)`,
				{from, into},
			);
			await trx('org_members').where({user_id: from}).update({user_id: into, updated_at: now});
			await trx('users').where({id: from}).delete();
		},
	};
};

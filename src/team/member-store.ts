import type {StoredRole} from '../auth/roles.ts';
import type {Db} from '../db/db.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import type {Member} from './member.ts';

type Row = {
	user_id: string;
	email: string | null;
	name: string;
	role: StoredRole;
	joined_at: Date;
	clerk_user_id: string | null;
	clerk_membership_id: string | null;
	provider_created_at: Date | null;
};

const toMember = (row: Row): Member => ({
	userId: row.user_id,
	email: row.email,
	name: row.name,
	role: row.role,
	joinedAt: row.joined_at,
	clerkUserId: row.clerk_user_id,
	clerkMembershipId: row.clerk_membership_id,
	providerCreatedAt: row.provider_created_at,
});

/** The statements on one organization's members, over a pool or a transaction. */
export const createMemberStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const members = () =>
		db.from(
			db('org_members')
				.join('users', 'users.id', 'org_members.user_id')
				.where(own)
				.select(
					'org_members.user_id',
					'users.email',
					'users.name',
					'org_members.role',
					'org_members.created_at as joined_at',
					'users.clerk_user_id',
					'org_members.clerk_membership_id',
					'org_members.provider_created_at',
				)
				.as('members'),
		);

	return {
		list: (query: PageQuery): Promise<Page<Member>> =>
			readPage(members(), query, 'joined_at DESC, user_id DESC', toMember),

		find: async (userId: string): Promise<Member | null> => {
			const [row] = (await members().where({user_id: userId}).select('*')) as Row[];
			return row === undefined ? null : toMember(row);
		},

		/** @param email lower case. */
		hasEmail: async (email: string): Promise<boolean> => (await members().where({email}).select('user_id')).length > 0,

		count: async (): Promise<number> => {
			const [counted] = await db('org_members').where(own).count({total: '*'});
			return Number(counted?.total ?? 0);
		},

		countOwners: async (): Promise<number> => {
			const [counted] = await db('org_members')
				.where({...own, role: 'OWNER'})
				.count({total: '*'});
			return Number(counted?.total ?? 0);
		},
	};
};

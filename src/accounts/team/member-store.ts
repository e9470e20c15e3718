import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {countRows, descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import type {Member} from './member.ts';

const columns: Columns<Member> = columnsOf(
	'user_id, email, name, role, joined_at, clerk_user_id, clerk_membership_id, provider_created_at',
);

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
			readPage(members().select(columns.list), query, descending('joined_at', 'user_id')),

		find: async (userId: string): Promise<Member | null> =>
			(await members().where({user_id: userId}).first(columns.list)) ?? null,

		/** @param email lower case. */
		hasEmail: async (email: string): Promise<boolean> => (await members().where({email}).select('user_id')).length > 0,

		count: (): Promise<number> => countRows(db('org_members').where(own)),

		countOwners: (): Promise<number> => countRows(db('org_members').where({...own, role: 'OWNER'})),
	};
};

import Joi from 'joi';
import {type Role, roleOf, roles, type StoredRole} from '../../platform/config/roles.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {countRows, descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import type {Services} from '../../services.ts';
import {bestEffort} from '../identity/resolve-role.ts';
import type {Organization} from '../organizations/organization-store.ts';

/** A member of an organization, with the provider's data of the membership. */
export type Member = {
	userId: string;
	email: string | null;
	name: string;
	role: StoredRole;
	joinedAt: Date;
	/** The provider's ids; null if it sent none. */
	clerkUserId: string | null;
	clerkMembershipId: string | null;
	providerCreatedAt: Date | null;
};

/** In the API's form (contract/portal 1); the role as stored in memberships, in upper case (contract/identity 1). */
export const memberJson = ({userId, email, name, role, joinedAt}: Member) => ({userId, email, name, role, joinedAt});

/** A role in a body, in upper case as in answers or in lower case as in claims; converted to lower case. */
export const roleField = Joi.any()
	.required()
	.custom((value: unknown, helpers) => {
		const role = typeof value === 'string' ? roleOf(value.toLowerCase()) : null;
		const names = roles.map((one) => one.toUpperCase()).join(', ');
		return role ?? helpers.message({custom: `{{#label}} must be one of ${names}`});
	})
	.meta({schema: {type: 'string', enum: [...roles.map((one) => one.toUpperCase()), ...roles]}}) as Joi.Schema<Role>;

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

/**
 * The organization's use of its quota `members`, for display: members and open invitations, which count as such
 * (contract/portal 4). If the provider fails, only the members.
 */
export const countSeats = async (
	services: Pick<Services, 'config' | 'db' | 'log' | 'provider'>,
	{id, clerkOrgId}: Organization,
): Promise<number> => {
	const {db, provider, config} = services;
	const isKnownThere = clerkOrgId !== null && config.idp.apiKey !== null;
	const [members, invitations] = await Promise.all([
		createMemberStore(db, id).count(),
		isKnownThere
			? bestEffort(
					services,
					'count the open invitations',
					provider.listInvitations(clerkOrgId, {statuses: ['pending'], limit: 1}),
				)
			: null,
	]);
	return members + (invitations?.total ?? 0);
};

import {type Directory, findMembership, findOrganization, findUser, membershipsWhere} from './directory.ts';
import type {HttpRoute} from './http-server.ts';
import {createInvitation, requireManager, revokeInvitation} from './invitations.ts';
import {removeMember, updateMembershipMetadata, updateSystemRole} from './memberships.ts';
import {createOrganization, deleteOrganization, updateOrganization} from './organizations.ts';
import {
	emailAddress,
	integer,
	matchesAddress,
	matchesQuery,
	metadata,
	page,
	readBody,
	requiredText,
	systemRole,
	text,
} from './parameters.ts';
import {invitationsOf, membershipRecord, organizationRecord} from './present.ts';
import {notFound, paramValue} from './provider-errors.ts';
import {type InvitationRecord, invitationStatuses} from './records.ts';

/** Omits undefined values, for inputs with optional fields. */
const given = <T extends object>(fields: T) =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
		[K in keyof T]?: Exclude<T[K], undefined>;
	};

const maxSeats = 1_000_000;
const maxExpiryDays = 365;
const organizationFields = ['name', 'slug', 'public_metadata', 'private_metadata', 'max_allowed_memberships'];
const invitationFields = [
	'email_address',
	'role',
	'public_metadata',
	'private_metadata',
	'redirect_url',
	'expires_in_days',
	'notify',
	'inviter_user_id',
];

const organizationInput = (body: Record<string, unknown>) =>
	given({
		slug: text(body, 'slug'),
		publicMetadata: metadata(body, 'public_metadata'),
		privateMetadata: metadata(body, 'private_metadata'),
		maxAllowedMemberships: integer(body, 'max_allowed_memberships', 0, maxSeats),
	});

/** `order_by` with its sign; a plus arrives as a space. Newest first unless said. */
const ordered = (query: URLSearchParams, invitations: InvitationRecord[]): InvitationRecord[] => {
	const order = (query.get('order_by') ?? '-created_at').trim();
	const field = order.replace(/^[+-]/, '');
	if (field !== 'created_at' && field !== 'email_address') {
		throw paramValue('order_by', 'must be created_at or email_address');
	}

	const ascending = invitations.toSorted((a, b) => (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : 0));
	return order.startsWith('-') ? ascending.toReversed() : ascending;
};

const organizationRoutes = (directory: Directory): HttpRoute[] => [
	{
		method: 'POST',
		path: '/v1/organizations',
		handle: ({body: sent}) => {
			const body = readBody(sent, ['created_by', ...organizationFields]);
			const name = requiredText(body, 'name');
			return createOrganization(directory, {
				name,
				...given({createdBy: text(body, 'created_by')}),
				...organizationInput(body),
			});
		},
	},
	{
		method: 'GET',
		path: '/v1/organizations/:id',
		handle: ({params}) => organizationRecord(directory, findOrganization(directory, params.id ?? '')),
	},
	{
		method: 'PATCH',
		path: '/v1/organizations/:id',
		handle: ({params, body: sent}) => {
			const body = readBody(sent, organizationFields);
			return updateOrganization(directory, params.id ?? '', {
				...given({name: text(body, 'name')}),
				...organizationInput(body),
			});
		},
	},
	{
		method: 'DELETE',
		path: '/v1/organizations/:id',
		handle: ({params}) => deleteOrganization(directory, params.id ?? ''),
	},
];

const membershipRoutes = (directory: Directory): HttpRoute[] => {
	const membershipOf = (params: Record<string, string>) =>
		findMembership(directory, params.id ?? '', params.userId ?? '');
	return [
		{
			method: 'GET',
			path: '/v1/organizations/:id/memberships',
			handle: ({params, query}) => {
				const {id: organizationId} = findOrganization(directory, params.id ?? '');
				const members = membershipsWhere(directory, {organizationId})
					.map((membership) => membershipRecord(directory, membership))
					.filter(
						({role, public_user_data: user}) =>
							matchesQuery(query, 'user_id', user.user_id) &&
							matchesAddress(query, 'email_address', user.identifier ?? '') &&
							matchesQuery(query, 'role', role),
					);
				return page(query, members.toReversed());
			},
		},
		{
			method: 'PATCH',
			path: '/v1/organizations/:id/memberships/:userId/metadata',
			handle: ({params, body: sent}) => {
				const body = readBody(sent, ['public_metadata', 'private_metadata']);
				const changes = given({
					publicMetadata: metadata(body, 'public_metadata'),
					privateMetadata: metadata(body, 'private_metadata'),
				});
				return updateMembershipMetadata(directory, membershipOf(params), changes);
			},
		},
		{
			method: 'PATCH',
			path: '/v1/organizations/:id/memberships/:userId',
			handle: ({params, body}) =>
				updateSystemRole(directory, membershipOf(params), systemRole(readBody(body, ['role']), 'role')),
		},
		{
			method: 'DELETE',
			path: '/v1/organizations/:id/memberships/:userId',
			handle: ({params}) => removeMember(directory, membershipOf(params)),
		},
	];
};

const invitationRoutes = (directory: Directory): HttpRoute[] => [
	{
		method: 'POST',
		path: '/v1/organizations/:id/invitations',
		handle: ({params, body: sent}) => {
			const {id: organization} = findOrganization(directory, params.id ?? '');
			const body = readBody(sent, invitationFields);
			const inviterUserId = text(body, 'inviter_user_id');
			requireManager(directory, organization, inviterUserId);
			return createInvitation(directory, {
				organization,
				email: emailAddress(body, 'email_address'),
				systemRole: systemRole(body, 'role'),
				...given({
					inviterUserId,
					publicMetadata: metadata(body, 'public_metadata'),
					privateMetadata: metadata(body, 'private_metadata'),
					redirectUrl: text(body, 'redirect_url'),
					expiresInDays: integer(body, 'expires_in_days', 1, maxExpiryDays),
				}),
			});
		},
	},
	{
		method: 'GET',
		path: '/v1/organizations/:id/invitations',
		handle: ({params, query}) => {
			const {id} = findOrganization(directory, params.id ?? '');
			const unknown = query.getAll('status').find((status) => !invitationStatuses.some((known) => known === status));
			if (unknown !== undefined) {
				throw paramValue('status', `must be one of ${invitationStatuses.join(', ')}`);
			}

			const invitations = invitationsOf(directory, id).filter(
				({status, email_address: email}) =>
					matchesQuery(query, 'status', status) && matchesAddress(query, 'email_address', email),
			);
			return page(query, ordered(query, invitations));
		},
	},
	{
		method: 'POST',
		path: '/v1/organizations/:id/invitations/:invitationId/revoke',
		handle: ({params, body: sent}) => {
			const {id} = findOrganization(directory, params.id ?? '');
			const body = readBody(sent, ['requesting_user_id']);
			requireManager(directory, id, text(body, 'requesting_user_id'));
			const invitation = directory.invitations.get(params.invitationId ?? '');
			if (invitation?.organization_id !== id) {
				throw notFound('Organization invitation');
			}

			return revokeInvitation(directory, invitation);
		},
	},
];

const userRoutes = (directory: Directory): HttpRoute[] => [
	{method: 'GET', path: '/v1/users/:id', handle: ({params}) => findUser(directory, params.id ?? '')},
	{
		method: 'GET',
		path: '/v1/users/:id/organization_memberships',
		handle: ({params, query}) => {
			const {id: userId} = findUser(directory, params.id ?? '');
			const memberships = membershipsWhere(directory, {userId}).map((each) => membershipRecord(directory, each));
			return page(query, memberships.toReversed());
		},
	},
];

/** The calls of contract/identity 10, and the change of an organization, which the provider has too. */
export const backendApi = (directory: Directory): HttpRoute[] => [
	...organizationRoutes(directory),
	...membershipRoutes(directory),
	...invitationRoutes(directory),
	...userRoutes(directory),
];

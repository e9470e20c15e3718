import type {Routes} from '../shared/http-server.ts';
import {
	type Directory,
	findInvitation,
	findMembership,
	findOrganization,
	findUser,
	membershipsWhere,
} from './directory.ts';
import {createInvitation, requireManager, revokeInvitation} from './invitations.ts';
import {removeMember, updateMembershipMetadata} from './memberships.ts';
import {createOrganization, deleteOrganization, updateOrganization} from './organizations.ts';
import {
	anything,
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

const maxSeats = 1_000_000;
const maxExpiryDays = 365;

const metadataFields = {publicMetadata: metadata, privateMetadata: metadata};
const organizationFields = {name: text, slug: text, ...metadataFields, maxAllowedMemberships: integer(0, maxSeats)};
const invitationFields = {
	inviterUserId: text,
	emailAddress,
	role: systemRole,
	...metadataFields,
	redirectUrl: text,
	expiresInDays: integer(1, maxExpiryDays),
	notify: anything,
};

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

/** The calls of contract/identity 10, and the change of an organization, which the provider has too. */
export const backendApi = (directory: Directory): Routes => {
	type Params = Record<string, string>;
	const organizationOf = ({id = ''}: Params) => findOrganization(directory, id);
	const membershipOf = ({id = '', userId = ''}: Params) => findMembership(directory, id, userId);
	const userOf = ({id = ''}: Params) => findUser(directory, id);
	return {
		'POST /v1/organizations': ({body}) =>
			createOrganization(directory, readBody(body, {...organizationFields, name: requiredText, createdBy: text})),
		'GET /v1/organizations/:id': ({params}) => organizationRecord(directory, organizationOf(params)),
		'PATCH /v1/organizations/:id': ({params, body}) =>
			updateOrganization(directory, params.id ?? '', readBody(body, organizationFields)),
		'DELETE /v1/organizations/:id': ({params}) => deleteOrganization(directory, params.id ?? ''),

		'GET /v1/organizations/:id/memberships': ({params, query}) => {
			const members = membershipsWhere(directory, {organizationId: organizationOf(params).id})
				.map((membership) => membershipRecord(directory, membership))
				.filter(
					({role, public_user_data: user}) =>
						matchesQuery(query, 'user_id', user.user_id) &&
						matchesAddress(query, 'email_address', user.identifier ?? '') &&
						matchesQuery(query, 'role', role),
				);
			return page(query, members.toReversed());
		},
		'PATCH /v1/organizations/:id/memberships/:userId/metadata': ({params, body}) => {
			const changes = readBody(body, metadataFields);
			return updateMembershipMetadata(directory, membershipOf(params), changes);
		},
		'DELETE /v1/organizations/:id/memberships/:userId': ({params}) => removeMember(directory, membershipOf(params)),

		'POST /v1/organizations/:id/invitations': ({params, body}) => {
			const {id: organization} = organizationOf(params);
			const {emailAddress: email, role, ...given} = readBody(body, invitationFields);
			requireManager(directory, organization, given.inviterUserId);
			return createInvitation(directory, {organization, email, systemRole: role, ...given});
		},
		'GET /v1/organizations/:id/invitations': ({params, query}) => {
			const {id} = organizationOf(params);
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
		'POST /v1/organizations/:id/invitations/:invitationId/revoke': ({params, body}) => {
			const {id} = organizationOf(params);
			requireManager(directory, id, readBody(body, {requestingUserId: text}).requestingUserId);
			const invitation = findInvitation(directory, params.invitationId ?? '');
			if (invitation.organization_id !== id) {
				throw notFound('Organization invitation');
			}

			return revokeInvitation(directory, invitation);
		},

		'GET /v1/users/:id': ({params}) => userOf(params),
		'GET /v1/users/:id/organization_memberships': ({params, query}) => {
			const {id: userId} = userOf(params);
			const memberships = membershipsWhere(directory, {userId}).map((each) => membershipRecord(directory, each));
			return page(query, memberships.toReversed());
		},
	};
};

import {deletedAnswer} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {organizationAnswer} from './organization-answer.ts';
import {organizationChanges} from './organization-fields.ts';
import {deleteOrganization, updateOrganization} from './organization-operations.ts';
import {organizationJson} from './organization-store.ts';

export const portalOrganizationRoutes = [
	route({
		method: 'GET',
		path: '/portal/organization',
		summary: 'Get the organization',
		answer: organizationAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		handler: ({organization}) => organizationJson(organization),
	}),

	route({
		method: 'PATCH',
		path: '/portal/organization',
		summary: 'Change the organization',
		refusals: [409],
		answer: organizationAnswer,
		credential: 'session',
		role: 'admin',
		limit: limits.portal,
		body: organizationChanges,
		handler: async ({services, organization, by, body}) =>
			organizationJson(await updateOrganization(services, {organization, by, changes: body})),
	}),

	route({
		method: 'DELETE',
		path: '/portal/organization',
		summary: 'Delete the organization and all its data',
		refusals: [409],
		answer: deletedAnswer,
		credential: 'session',
		role: 'owner',
		limit: limits.portal,
		handler: ({services, organization, by}) => deleteOrganization(services, {organization, by}),
	}),
];

import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {organizationChanges} from './organization-fields.ts';
import {deleteOrganization, updateOrganization} from './organization-operations.ts';
import {organizationJson} from './organization-store.ts';

export const portalOrganizationRoutes = [
	route({
		method: 'GET',
		path: '/portal/organization',
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		handler: ({organization}) => organizationJson(organization),
	}),

	route({
		method: 'PATCH',
		path: '/portal/organization',
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
		credential: 'session',
		role: 'owner',
		limit: limits.portal,
		handler: ({services, organization, by}) => deleteOrganization(services, {organization, by}),
	}),
];

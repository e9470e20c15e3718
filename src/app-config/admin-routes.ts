import {route} from '../http/route.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {appConfigBody} from './app-config.ts';
import {getAppConfig, setAppConfig} from './app-config-operations.ts';

export const appConfigRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/app-config',
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params: {orgId}}) =>
			getAppConfig(services, {organization: await requireOrganization(services, orgId)}),
	}),

	route({
		method: 'PUT',
		path: '/admin/organizations/:orgId/app-config',
		credential: 'admin',
		params: orgParams,
		body: appConfigBody,
		handler: async ({services, by, params: {orgId}, body}) =>
			setAppConfig(services, {organization: await requireOrganization(services, orgId), by, input: body}),
	}),
];

import {route} from '../http/route.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {appConfigBody} from './app-config.ts';
import {appConfigAnswer} from './app-config-answer.ts';
import {getAppConfig} from './app-config-store.ts';
import {saveAppConfig} from './save-app-config.ts';

export const appConfigRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/app-config',
		summary: 'Get the app configuration',
		answer: appConfigAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params: {orgId}}) =>
			getAppConfig(services.db, (await requireOrganization(services, orgId)).id),
	}),

	route({
		method: 'PUT',
		path: '/admin/organizations/:orgId/app-config',
		summary: 'Set the app configuration',
		answer: appConfigAnswer,
		credential: 'admin',
		params: orgParams,
		body: appConfigBody,
		refusals: [409],
		handler: async ({services, by, params: {orgId}, body}) =>
			saveAppConfig(services, {organization: await requireOrganization(services, orgId), by, appConfig: body}),
	}),
];

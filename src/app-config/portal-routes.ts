import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {appConfigBody} from './app-config.ts';
import {appConfigAnswer} from './app-config-answer.ts';
import {getAppConfig} from './app-config-store.ts';
import {saveAppConfig} from './save-app-config.ts';

export const portalAppConfigRoutes = [
	route({
		method: 'GET',
		path: '/portal/app-config',
		summary: 'Get the app configuration',
		answer: appConfigAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		handler: ({services, organization}) => getAppConfig(services.db, organization.id),
	}),

	route({
		method: 'PUT',
		path: '/portal/app-config',
		summary: 'Set the app configuration',
		answer: appConfigAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		body: appConfigBody,
		refusals: [409],
		handler: ({services, organization, by, body}) => saveAppConfig(services, {organization, by, appConfig: body}),
	}),
];

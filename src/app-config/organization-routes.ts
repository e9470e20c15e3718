import {organizationRoute} from '../organizations/organization-route.ts';
import {appConfigBody} from './app-config.ts';
import {appConfigAnswer} from './app-config-answer.ts';
import {getAppConfig} from './app-config-store.ts';
import {saveAppConfig} from './save-app-config.ts';

export const appConfigRoutes = [
	organizationRoute({
		method: 'GET',
		path: '/app-config',
		summary: 'Get the app configuration',
		answer: appConfigAnswer,
		role: 'viewer',
		handler: ({services, organization}) => getAppConfig(services.db, organization.id),
	}),

	organizationRoute({
		method: 'PUT',
		path: '/app-config',
		summary: 'Set the app configuration',
		refusals: [409],
		answer: appConfigAnswer,
		role: 'developer',
		body: appConfigBody,
		handler: ({services, organization, by, body}) => saveAppConfig(services, {organization, by, appConfig: body}),
	}),
].flat();

import {organizationRoute} from '../../accounts/auth/route.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {pageQuerySchema} from '../../platform/http/validate.ts';
import {eventAnswer} from './sdk-answers.ts';
import {listEvents} from './sdk-store.ts';

export const eventRoutes = organizationRoute({
	method: 'GET',
	path: '/events',
	summary: 'List events, newest first',
	answer: pageOf(eventAnswer),
	role: 'analyst',
	query: pageQuerySchema,
	handler: ({services, organization, query}) => listEvents(services.db, organization.id, query),
});

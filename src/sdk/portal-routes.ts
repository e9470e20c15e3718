import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {eventAnswer} from './sdk-answers.ts';
import {listEvents} from './sdk-store.ts';

export const portalEventRoutes = [
	route({
		method: 'GET',
		path: '/portal/events',
		summary: 'List events, newest first',
		answer: pageOf(eventAnswer),
		credential: 'session',
		role: 'analyst',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listEvents(services.db, organization.id, query),
	}),
];

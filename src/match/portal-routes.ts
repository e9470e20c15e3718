import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {matchAttemptAnswer} from './match-answer.ts';
import {getAttempt, listAttempts} from './match-attempt-store.ts';

export const portalMatchRoutes = [
	route({
		method: 'GET',
		path: '/portal/matches',
		summary: 'List match attempts, newest first',
		answer: pageOf(matchAttemptAnswer),
		credential: 'session',
		role: 'analyst',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listAttempts(services.db, organization.id, query),
	}),

	route({
		method: 'GET',
		path: '/portal/matches/:id',
		summary: 'Explain a match attempt',
		answer: matchAttemptAnswer,
		credential: 'session',
		role: 'analyst',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, params: {id}}) => getAttempt(services.db, organization.id, id),
	}),
];

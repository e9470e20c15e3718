import {organizationRoute, route} from '../../accounts/auth/route.ts';
import {matchAttemptNotFound, required} from '../../platform/errors.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {matchAttemptAnswer} from './match-answer.ts';
import {findAttempt, getAttempt, listAttempts} from './match-attempt-store.ts';

export const matchAttemptRoutes = [
	organizationRoute('GET', '/matches', {
		summary: 'List match attempts, newest first',
		answer: pageOf(matchAttemptAnswer),
		role: 'analyst',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listAttempts(services.db, organization.id, query),
	}),

	organizationRoute('GET', '/matches/:id', {
		summary: 'Explain a match attempt',
		answer: matchAttemptAnswer,
		role: 'analyst',
		params: idParams,
		handler: ({services, organization, params: {id}}) => getAttempt(services.db, organization.id, id),
	}),

	route('GET', '/admin/matches/:id', {
		summary: 'Explain a match attempt of any organization, or of none',
		refusals: [404],
		answer: matchAttemptAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params: {id}}) => required(await findAttempt(services.db, id), matchAttemptNotFound),
	}),
].flat();

import {organizationRoute, route} from '../../accounts/auth/route.ts';
import {orgParams, requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {matchAttemptNotFound} from '../../platform/errors.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {matchAttemptAnswer, simulationAnswer} from './match-answer.ts';
import {findAttempt, getAttempt, listAttempts} from './match-attempt-store.ts';
import {simulateMatch} from './simulate-match.ts';
import {simulationBody} from './simulation-body.ts';

export const matchAttemptRoutes = [
	organizationRoute({
		method: 'GET',
		path: '/matches',
		summary: 'List match attempts, newest first',
		answer: pageOf(matchAttemptAnswer),
		role: 'analyst',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listAttempts(services.db, organization.id, query),
	}),

	organizationRoute({
		method: 'GET',
		path: '/matches/:id',
		summary: 'Explain a match attempt',
		answer: matchAttemptAnswer,
		role: 'analyst',
		params: idParams,
		handler: ({services, organization, params: {id}}) => getAttempt(services.db, organization.id, id),
	}),

	route({
		method: 'GET',
		path: '/admin/matches/:id',
		summary: 'Explain a match attempt of any organization, or of none',
		refusals: [404],
		answer: matchAttemptAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params: {id}}) => {
			const attempt = await findAttempt(services.db, id);
			if (attempt === null) {
				throw matchAttemptNotFound();
			}

			return attempt;
		},
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/matches/simulate',
		summary: 'Simulate a tap and a first open',
		refusals: [410],
		answer: simulationAnswer,
		credential: 'admin',
		params: orgParams,
		body: simulationBody,
		handler: async ({services, params, body}) => {
			const organization = await requireOrganization(services, params.orgId);
			return simulateMatch(services, {organization, input: body});
		},
	}),
].flat();

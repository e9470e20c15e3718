import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema} from '../http/validate.ts';
import {orgIdParams, orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {matchAttemptAnswer, simulationAnswer} from './match-answer.ts';
import {getAttempt, listAttempts} from './match-attempt-store.ts';
import {simulateMatch} from './simulate-match.ts';
import {simulationBody} from './simulation-body.ts';

export const matchAttemptRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/matches',
		summary: 'List match attempts, newest first',
		answer: pageOf(matchAttemptAnswer),
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params, query}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return listAttempts(services.db, id, query);
		},
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/matches/:id',
		summary: 'Explain a match attempt',
		answer: matchAttemptAnswer,
		credential: 'admin',
		params: orgIdParams,
		handler: async ({services, params}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return getAttempt(services.db, id, params.id);
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
		handler: async ({services, params, request, body}) => {
			const organization = await requireOrganization(services, params.orgId);
			return simulateMatch(services, {organization, input: body, request});
		},
	}),
];

import Joi from 'joi';
import {route} from '../../accounts/auth/route.ts';
import {orgParams, requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {paramsAnswer} from '../../links/links/link-answer.ts';
import {answerOf, flag, instant, partOf, text, uuid} from '../../platform/http/answer.ts';
import {matchAnswer, unkeptAttemptAnswer} from '../matches/match-answer.ts';
import {simulateMatch} from './simulate-match.ts';
import {simulationBody} from './simulation-body.ts';

/** The result that `oplink match simulate` prints. */
const simulationAnswer = answerOf('Simulation', {
	link: partOf({id: uuid, url: text, deferredDeepLinking: flag}),
	tap: partOf({
		at: instant,
		ip: text,
		headers: Joi.object().pattern(/^/, text),
		signals: Joi.object().unknown(true).allow(null),
		query: paramsAnswer.optional(),
		leaves: partOf({clipboard: flag, referrer: flag}),
	}),
	open: partOf({at: instant, ip: text, apiKey: flag, body: Joi.object().unknown(true)}),
	answer: matchAnswer,
	attempt: unkeptAttemptAnswer,
});

export const simulationRoutes = [
	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/matches/simulate',
		summary: 'Simulate a click and a first open',
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
];

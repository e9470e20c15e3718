import Joi from 'joi';
import {route} from '../../accounts/route.ts';
import type {Query} from '../../platform/http/query.ts';
import {limits} from '../../platform/limits/limits.ts';
import {answerRoot} from './page/start-page.ts';
import {
	absentAnswers,
	linkDataAnswer,
	pageAnswer,
	pageOrDataAnswer,
	signalsBody,
	startPageAnswer,
} from './resolution-answers.ts';
import {takeSignals} from './visit/signals.ts';
import {visitLink} from './visit/visit-link.ts';

/** The query may hold any parameter: it is added to `params` (contract/resolution 2). */
const anyQuery = Joi.object<Query>().unknown(true);

type Code = {shortCode: string};
type OrganizationCode = Code & {orgKey: string};
const code = Joi.object<Code>({shortCode: Joi.string()});
const organizationCode = Joi.object<OrganizationCode>({orgKey: Joi.string(), shortCode: Joi.string()});

/**
 * Mounted last, because these paths match nearly anything. `resolveLink` decides which form a path has, by the host.
 */
export const resolutionRoutes = [
	route({
		method: 'GET',
		path: '/:orgKey/:shortCode/data',
		summary: 'The data of a link',
		otherAnswers: absentAnswers,
		answer: linkDataAnswer,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: organizationCode,
		query: anyQuery,
		cors: true,
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: true}, query),
	}),

	route({
		method: 'POST',
		path: '/:orgKey/:shortCode/signals',
		summary: 'Send the signals of a page',
		accepts: {'application/json': signalsBody, 'text/plain': signalsBody},
		answer: null,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: organizationCode,
		body: 'stream',
		handler: ({services, request, params}) => takeSignals(services, request, params),
	}),

	route({
		method: 'GET',
		path: '/:orgKey/:shortCode',
		summary: 'Open a link',
		otherAnswers: absentAnswers,
		answer: pageOrDataAnswer,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: organizationCode,
		query: anyQuery,
		cors: 'data',
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: false}, query),
	}),

	route({
		method: 'GET',
		path: '/',
		summary: 'The start page',
		description: 'A custom domain redirects to its `rootUrl`; without one it is 404. On the API host it is a page.',
		answer: null,
		otherAnswers: {200: startPageAnswer, 404: absentAnswers[404]},
		status: 302,
		credential: 'none',
		host: 'link',
		handler: ({services, request}) => answerRoot(services, request),
	}),

	route({
		method: 'GET',
		path: '/:shortCode',
		summary: 'Open a link of a custom domain',
		otherAnswers: absentAnswers,
		answer: pageAnswer,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: code,
		query: anyQuery,
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: false}, query),
	}),
];

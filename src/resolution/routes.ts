import Joi from 'joi';
import type {Query} from '../http/query.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {linkDataAnswer, pageAnswer, pageOrDataAnswer, signalsBody} from './resolution-answers.ts';
import {takeSignals} from './signals.ts';
import {visitLink} from './visit-link.ts';

/** The query may hold any parameter: on `/data` it is added to `params` (contract/resolution 2). */
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
		refusals: [410],
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
		refusals: [410],
		answer: pageOrDataAnswer,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: organizationCode,
		query: anyQuery,
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: false}, query),
	}),

	route({
		method: 'GET',
		path: '/:shortCode',
		summary: 'Open a link of a custom domain',
		refusals: [410],
		answer: pageAnswer,
		credential: 'none',
		host: 'link',
		lenient: true,
		limit: limits.resolution,
		params: code,
		handler: ({services, request, params}) => visitLink(services, request, {...params, data: false}, {}),
	}),
];

import Joi from 'joi';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import {takeSignals} from './signals.ts';
import {visitLink} from './visit-link.ts';

/** Anything may stand in the query: on `/data` it passes into `params` (decisions 5). */
const anyQuery = Joi.object<Record<string, unknown>>().unknown(true).options({stripUnknown: false});

type Code = {shortCode: string};
type OrganizationCode = Code & {orgKey: string};
const code = Joi.object<Code>({shortCode: Joi.string()});
const organizationCode = Joi.object<OrganizationCode>({orgKey: Joi.string(), shortCode: Joi.string()});

/** Mounted last: these paths match nearly anything. Which of them a path is, `resolveLink` says, because the host decides. */
export const resolutionRoutes = [
	route({
		method: 'GET',
		path: '/:orgKey/:shortCode/data',
		credential: 'none',
		host: 'link',
		limit: limits.resolution,
		params: organizationCode,
		query: anyQuery,
		cors: true,
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: true}, query),
	}),

	route({
		method: 'POST',
		path: '/:orgKey/:shortCode/signals',
		credential: 'none',
		host: 'link',
		limit: limits.resolution,
		params: organizationCode,
		body: 'stream',
		handler: ({services, request, params}) => takeSignals(services, request, params),
	}),

	route({
		method: 'GET',
		path: '/:orgKey/:shortCode',
		credential: 'none',
		host: 'link',
		limit: limits.resolution,
		params: organizationCode,
		query: anyQuery,
		handler: ({services, request, params, query}) => visitLink(services, request, {...params, data: false}, query),
	}),

	route({
		method: 'GET',
		path: '/:shortCode',
		credential: 'none',
		host: 'link',
		limit: limits.resolution,
		params: code,
		handler: ({services, request, params}) => visitLink(services, request, {...params, data: false}, {}),
	}),
];

import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import {declareRoute} from '../../platform/http/route.ts';
import type {Query} from '../../platform/query.ts';
import {
	absentAnswers,
	linkDataAnswer,
	pageAnswer,
	pageOrDataAnswer,
	signalsBody,
	startPageAnswer,
} from '../visit/visit-answers.ts';
import {linkRoutes} from './visit-link.ts';

/** The query may hold any parameter: it is added to `params` (contract/resolution 2). */
const anyQuery = Joi.object<Query>().unknown(true);

const code = Joi.object({shortCode: Joi.string()});
const organizationCode = Joi.object({orgKey: Joi.string(), shortCode: Joi.string()});

const common = {credential: 'none', onLinkDomain: true, limit: limits.resolution} as const;

/** The routes of links for the API document. `door.ts` answers them, without a router. */
export const declaredLinkRoutes = [
	declareRoute('GET', linkRoutes.data, {
		...common,
		summary: 'The data of a link',
		otherAnswers: absentAnswers,
		answer: linkDataAnswer,
		params: organizationCode,
		query: anyQuery,
		cors: true,
	}),

	declareRoute('POST', linkRoutes.signals, {
		...common,
		summary: 'Send the signals of a page',
		accepts: {'application/json': signalsBody, 'text/plain': signalsBody},
		answer: null,
		params: organizationCode,
		body: 'stream',
	}),

	declareRoute('GET', linkRoutes.page, {
		...common,
		summary: 'Open a link',
		otherAnswers: absentAnswers,
		answer: pageOrDataAnswer,
		params: organizationCode,
		query: anyQuery,
	}),

	declareRoute('GET', linkRoutes.root, {
		summary: 'The start page',
		description: 'A custom domain redirects to its `rootUrl`; without one it is 404. On the API host it is a page.',
		answer: null,
		otherAnswers: {200: startPageAnswer, ...absentAnswers},
		status: 302,
		credential: 'none',
		onLinkDomain: true,
	}),

	declareRoute('GET', linkRoutes.bare, {
		...common,
		summary: 'Open a link of a custom domain',
		otherAnswers: absentAnswers,
		answer: pageAnswer,
		params: code,
		query: anyQuery,
	}),
];

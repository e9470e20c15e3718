import Joi from 'joi';
import {deletedAnswer} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {orgIdParams, orgParams, orgParamsWith, requireOrganization} from '../organizations/require-organization.ts';
import type {Tier} from './api-key.ts';
import {allKeyCardsAnswer, newKeyAnswer} from './key-answer.ts';
import {allKeyCards, regenerateApiKey, revokeApiKey} from './rotation.ts';

const tierParams = orgParamsWith<{tier: Tier}>({tier: Joi.valid('CLIENT', 'SERVER').required()});

export const apiKeyRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/api-keys',
		summary: 'Get both API keys, and the earlier ones that are still accepted',
		answer: allKeyCardsAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params}) => allKeyCards(services, await requireOrganization(services, params.orgId)),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/api-keys/:tier/regenerate',
		summary: 'Replace an API key',
		answer: newKeyAnswer,
		credential: 'admin',
		params: tierParams,
		handler: async ({services, by, params}) =>
			regenerateApiKey(services, {
				organization: await requireOrganization(services, params.orgId),
				tier: params.tier,
				by,
			}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/api-keys/:id',
		summary: 'Revoke an API key at once',
		answer: deletedAnswer,
		credential: 'admin',
		params: orgIdParams,
		handler: async ({services, by, params: {orgId, id}}) =>
			revokeApiKey(services, {organization: await requireOrganization(services, orgId), id, by}),
	}),
];

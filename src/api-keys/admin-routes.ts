import Joi from 'joi';
import {route} from '../http/route.ts';
import {orgParams, orgParamsWith, requireOrganization} from '../organizations/require-organization.ts';
import type {Tier} from './api-key.ts';
import {keyCardsAnswer, newKeyAnswer} from './key-answer.ts';
import {provisionedKeyCards, regenerateApiKey} from './rotation.ts';

const tierParams = orgParamsWith<{tier: Tier}>({tier: Joi.valid('CLIENT', 'SERVER').required()});

export const apiKeyRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/api-keys',
		summary: 'Get both API keys',
		answer: keyCardsAnswer,
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params}) =>
			provisionedKeyCards(services, await requireOrganization(services, params.orgId)),
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
];

import Joi from 'joi';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import type {Tier} from './api-key.ts';
import {keyCardsAnswer, newKeyAnswer} from './key-answer.ts';
import {portalKeyCards, regenerateUnlockedKey} from './portal-keys.ts';

const tierParams = Joi.object<{tier: Tier}>({tier: Joi.valid('CLIENT', 'SERVER').required()});

export const portalApiKeyRoutes = [
	route({
		method: 'GET',
		path: '/portal/api-keys',
		summary: 'Get both API keys',
		answer: keyCardsAnswer,
		credential: 'session',
		limit: limits.portal,
		handler: ({services, organization}) => portalKeyCards(services, organization),
	}),

	route({
		method: 'POST',
		path: '/portal/api-keys/:tier/regenerate',
		summary: 'Replace an API key',
		refusals: [402],
		answer: newKeyAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.regenerateKey,
		params: tierParams,
		handler: ({services, organization, by, params: {tier}}) =>
			regenerateUnlockedKey(services, {organization, tier, by}),
	}),
];

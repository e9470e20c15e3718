import Joi from 'joi';
import type {Caller} from '../audit/audit-log.ts';
import {route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {hasFeature, type PlanDeps, requireFeature, requirePlan} from '../plans/entitlements.ts';
import type {Tier} from './api-key.ts';
import {keyCardsAnswer, newKeyAnswer} from './key-answer.ts';
import {type KeyDeps, provisionedKeyCards, regenerateApiKey} from './rotation.ts';

const tierParams = Joi.object<{tier: Tier}>({tier: Joi.valid('CLIENT', 'SERVER').required()});

/**
 * The key cards for a member. Without a plan with `api_access` they are locked, and no key is created
 * (contract/api-keys 6).
 */
const portalKeyCards = async (services: PlanDeps & KeyDeps, organization: Organization) =>
	hasFeature(services, organization, 'api_access')
		? provisionedKeyCards(services, organization)
		: {sdkKey: null, serverKey: null, locked: true};

/** Replaces a key, if the plan includes keys. @throws 402 without a plan, 403 FEATURE_NOT_AVAILABLE. */
const regenerateUnlockedKey = async (
	services: PlanDeps & KeyDeps,
	target: {organization: Organization; tier: Tier; by: Caller},
) => {
	requireFeature(requirePlan(services, target.organization), 'api_access');
	return regenerateApiKey(services, target);
};

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

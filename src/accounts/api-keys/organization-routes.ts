import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import {
	answerOf,
	deletedAnswer,
	flag,
	instant,
	instantOrNull,
	text,
	textOrNull,
	uuid,
} from '../../platform/http/answer.ts';
import {idParams} from '../../platform/http/validate.ts';
import type {Caller} from '../audit/audit-log.ts';
import {adminRoute, portalRoute} from '../auth/route.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {hasFeature, type PlanDeps, requireFeature, requirePlan} from '../plans/entitlements.ts';
import type {Tier} from './api-key.ts';
import {allKeyCards, type KeyDeps, provisionedKeyCards, regenerateApiKey, revokeApiKey} from './rotation.ts';

const card = {
	id: uuid,
	tier: Joi.valid('CLIENT', 'SERVER'),
	prefix: text,
	displayKey: textOrNull,
	displayKeyFault: Joi.valid('OTHER_SECRET').optional(),
	createdAt: instant,
	expiresAt: instantOrNull,
	lastUsedAt: instantOrNull,
};

const keyCardAnswer = answerOf('KeyCard', card);

const cards = {sdkKey: keyCardAnswer.allow(null), serverKey: keyCardAnswer.allow(null), locked: flag};

/** Both key cards (contract/api-keys 6). */
const keyCardsAnswer = answerOf('KeyCards', cards);

/** The operator sees the earlier keys, too, that are still accepted. */
const allKeyCardsAnswer = answerOf('AllKeyCards', {...cards, earlier: Joi.array().items(keyCardAnswer)});

const newKeyAnswer = answerOf('NewKey', {...card, rawKey: text});

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

export const apiKeyRoutes = [
	adminRoute('GET', '/api-keys', {
		summary: 'Get both API keys, and the earlier ones that are still accepted',
		answer: allKeyCardsAnswer,
		handler: ({services, organization}) => allKeyCards(services, organization),
	}),

	portalRoute('GET', '/api-keys', {
		summary: 'Get both API keys',
		answer: keyCardsAnswer,
		handler: ({services, organization}) => portalKeyCards(services, organization),
	}),

	adminRoute('POST', '/api-keys/:tier/regenerate', {
		summary: 'Replace an API key',
		answer: newKeyAnswer,
		params: tierParams,
		handler: ({services, organization, by, params: {tier}}) => regenerateApiKey(services, {organization, tier, by}),
	}),

	portalRoute('POST', '/api-keys/:tier/regenerate', {
		summary: 'Replace an API key',
		refusals: [402],
		answer: newKeyAnswer,
		role: 'developer',
		limit: limits.regenerateKey,
		params: tierParams,
		handler: ({services, organization, by, params: {tier}}) =>
			regenerateUnlockedKey(services, {organization, tier, by}),
	}),

	adminRoute('DELETE', '/api-keys/:id', {
		summary: 'Revoke an API key at once',
		answer: deletedAnswer,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => revokeApiKey(services, {organization, id, by}),
	}),
];

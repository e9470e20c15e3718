import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {hasFeature, type PlanDeps, requireFeature, requirePlan} from '../plans/entitlements.ts';
import type {Tier} from './api-key.ts';
import {type KeyDeps, provisionedKeyCards, regenerateApiKey} from './rotation.ts';

/**
 * The key cards for a member. Without a plan with `api_access` they are locked, and no key is created
 * (contract/api-keys 6).
 */
export const portalKeyCards = async (services: PlanDeps & KeyDeps, organization: Organization) =>
	hasFeature(services, organization, 'api_access')
		? provisionedKeyCards(services, organization)
		: {sdkKey: null, serverKey: null, locked: true};

/** Replaces a key, if the plan includes keys. @throws 402 without a plan, 403 FEATURE_NOT_AVAILABLE. */
export const regenerateUnlockedKey = async (
	services: PlanDeps & KeyDeps,
	target: {organization: Organization; tier: Tier; by: Caller},
) => {
	requireFeature(requirePlan(services, target.organization), 'api_access');
	return regenerateApiKey(services, target);
};

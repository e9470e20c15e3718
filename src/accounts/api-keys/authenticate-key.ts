import type {Plan} from '../../platform/config/plans.ts';
import {invalidApiKey, organizationSuspended, required, wrongKeyTier} from '../../platform/errors.ts';
import type {CallerData} from '../../platform/http/admission.ts';
import type {Services} from '../../services.ts';
import {requireBearerToken} from '../auth/session.ts';
import {type PlanDeps, planOf, requireFeature} from '../plans/entitlements.ts';
import {isRawKey, isRawKeyOf, isValidAt, prefixOf, type Tier} from './api-key.ts';
import {type ApiKey, createApiKeyStore, isUseWorthNoting} from './api-key-store.ts';
import type {KeyHolder} from './key-cache.ts';

/**
 * The holder of a raw key of any tier, or null. The key is looked up by its indexed prefix and compared by SHA-256 in
 * constant time (contract/api-keys 4).
 */
export const findKeyHolder = async (
	{clock, db, keyCache}: Pick<Services, 'clock' | 'db' | 'keyCache'>,
	rawKey: string,
): Promise<KeyHolder | null> => {
	if (!isRawKey(rawKey)) {
		return null;
	}

	const prefix = prefixOf(rawKey);
	const candidates = await keyCache.get(prefix, () => createApiKeyStore(db).findByPrefix(prefix));
	const now = clock.now();
	const found = candidates.find(({key}) => isRawKeyOf(key.keyHash, rawKey) && isValidAt(key, now));
	return found ?? null;
};

/** Records a key's use in the background; most uses follow too soon after the last one to be written. */
export const noteKeyUse = (
	{clock, background, db}: Pick<Services, 'clock' | 'background' | 'db'>,
	key: ApiKey,
): void => {
	const now = clock.now();
	if (isUseWorthNoting(key, now)) {
		// Also updates the cached key, which is not read again.
		key.lastUsedAt = now;
		background.run('record the use of a key', createApiKeyStore(db).noteUse({id: key.id, at: now}));
	}
};

/**
 * Credential, suspension, tier and feature checks of a key-authenticated route, in the order of contract/requests 8. An
 * organization without a plan passes here; an operation that needs a plan answers 402 PLAN_NOT_SELECTED.
 * @throws 401, 403.
 */
export const authenticateKey = async (
	services: PlanDeps & Pick<Services, 'appRequests' | 'background' | 'db' | 'keyCache'>,
	{authorization, userAgent}: Pick<CallerData, 'authorization' | 'userAgent'>,
	tier: Tier,
): Promise<KeyHolder & {plan: Plan | null}> => {
	const rawKey = requireBearerToken(authorization);
	const holder = required(await findKeyHolder(services, rawKey), invalidApiKey);
	if (holder.organization.status === 'SUSPENDED') {
		throw organizationSuspended();
	}

	if (holder.key.tier !== tier) {
		const refusal = wrongKeyTier(holder.key.tier, tier);
		const live = {type: 'refusal' as const, text: refusal.summary};
		services.appRequests.note({
			organization: holder.organization,
			counts: [['wrong_key', holder.key.tier]],
			userAgent,
			live,
		});
		throw refusal;
	}

	const plan = planOf(services, holder.organization);
	if (plan !== null) {
		requireFeature(plan, 'api_access');
	}

	noteKeyUse(services, holder.key);
	return {...holder, plan};
};

import {rateLimited} from '../errors.ts';
import type {Plan} from '../plans/plans.ts';
import type {Services} from '../services.ts';
import type {Limit} from './limits.ts';
import {limitOfPlan} from './plan-limits.ts';

/** What a limit counts, and whose it is; null: nobody's that we know. */
export type Counted = {subject: string; owner: {organizationId: string; plan: Plan | null} | null};

/**
 * Counts a request, by the limit of the owner's plan if that sets one.
 * @param decided seconds to wait where it is counted already. @throws 429 where it is one too many.
 */
export const enforceLimit = async (
	{limiter, metrics, refusals}: Pick<Services, 'limiter' | 'metrics' | 'refusals'>,
	limit: Limit,
	{subject, owner}: Counted,
	decided?: number,
): Promise<void> => {
	const wait = decided ?? (await limiter.take(limitOfPlan(limit, owner?.plan?.limits), subject));
	if (wait > 0) {
		metrics.rateLimited(limit.name);
		if (owner !== null) {
			refusals.note(owner.organizationId, limit.name);
		}

		throw rateLimited(wait);
	}
};

import type {Services} from '../../services.ts';
import {type Limit, limitOfPlan} from '../config/limits.ts';
import type {Plan} from '../config/plans.ts';
import {rateLimited} from '../errors.ts';

export type LimitDeps = Pick<Services, 'limiter' | 'metrics' | 'refusals'>;

/** The subject that a limit counts, and its organization; null if unknown. */
export type LimitSubject = {subject: string; owner: {organizationId: string; plan: Plan | null} | null};

/**
 * Counts a request, by the limit of the owner's plan if that sets one. @throws 429 beyond the limit.
 */
export const enforceLimit = async (
	{limiter, metrics, refusals}: LimitDeps,
	limit: Limit,
	{subject, owner}: LimitSubject,
): Promise<void> => {
	const wait = await limiter.take(limitOfPlan(limit, owner?.plan?.limits), subject);
	if (wait > 0) {
		metrics.rateLimited(limit.name);
		if (owner !== null) {
			refusals.note(owner.organizationId, limit.name);
		}

		throw rateLimited(wait, limit.name);
	}
};

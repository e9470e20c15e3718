import type {Logger} from 'pino';
import type {Clock} from '../../platform/clock.ts';
import {
	type FeatureName,
	FREE_PLAN,
	type Plan,
	type Plans,
	type QuotaName,
	storedPlan,
} from '../../platform/config/plans.ts';
import type {Db} from '../../platform/db/db.ts';
import {featureNotAvailable, planNotSelected, quotaExceeded, required} from '../../platform/errors.ts';

/** The data that determines an organization's current plan. */
export type PlanDeps = {config: {plans: Plans}; clock: Clock; log: Logger};

/** An organization's selected plan, and the end of the paid time; null without an end. */
export type Entitled = {plan: string | null; entitledUntil: Date | null};

/**
 * The effective plan of an organization: the free one if its own is no longer paid for (contract/billing 4), or null
 * without one.
 */
export const planOf = ({config, clock, log}: PlanDeps, {plan, entitledUntil}: Entitled): Plan | null => {
	const name = storedPlan(config.plans, plan, log);
	if (name === null) {
		return null;
	}

	const isOver = entitledUntil !== null && entitledUntil <= clock.now();
	return config.plans[isOver ? FREE_PLAN : name] ?? null;
};

/** The organization's plan. @throws 402 PLAN_NOT_SELECTED. */
export const requirePlan = (deps: PlanDeps, organization: Entitled): Plan => {
	return required(planOf(deps, organization), planNotSelected);
};

/** Whether the organization's current plan has the feature; without a plan it has none. */
export const hasFeature = (deps: PlanDeps, organization: Entitled, feature: FeatureName): boolean =>
	planOf(deps, organization)?.features[feature] === true;

/** @throws 403 FEATURE_NOT_AVAILABLE if the plan lacks the feature. */
export const requireFeature = (plan: Plan, feature: FeatureName): void => {
	if (!plan.features[feature]) {
		throw featureNotAvailable(feature);
	}
};

/** @throws 402 QUOTA_EXCEEDED if `used` has reached the plan's quota. */
export const requireQuota = (plan: Plan, quota: QuotaName, used: number): void => {
	const limit = plan.quotas[quota];
	if (limit !== null && used >= limit) {
		throw quotaExceeded(quota);
	}
};

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Db, organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};

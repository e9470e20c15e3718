import type {Logger} from 'pino';
import {featureNotAvailable, planNotSelected, quotaExceeded} from '../errors.ts';
import {type FeatureName, type Plan, type Plans, type QuotaName, storedPlan} from './plans.ts';

type Deps = {config: {plans: Plans}; log: Logger};

/** The plan that an organization is on, or null without one. */
export const planOf = ({config, log}: Deps, organization: {plan: string | null}): Plan | null => {
	const name = storedPlan(config.plans, organization.plan, log);
	return name === null ? null : (config.plans[name] ?? null);
};

/** The organization's plan. @throws 402 PLAN_NOT_SELECTED. */
export const requirePlan = (deps: Deps, organization: {plan: string | null}): Plan => {
	const plan = planOf(deps, organization);
	if (plan === null) {
		throw planNotSelected();
	}

	return plan;
};

/** @throws 403 FEATURE_NOT_AVAILABLE where the plan lacks the feature. */
export const requireFeature = (plan: Plan, feature: FeatureName): void => {
	if (!plan.features[feature]) {
		throw featureNotAvailable(feature);
	}
};

/** @throws 402 QUOTA_EXCEEDED where `used` has reached what the plan gives. */
export const requireQuota = (plan: Plan, quota: QuotaName, used: number): void => {
	const limit = plan.quotas[quota];
	if (limit !== null && used >= limit) {
		throw quotaExceeded(quota);
	}
};

import {planNotForSale, unknownPlan} from '../errors.ts';
import {type Currency, type Plan, type Plans, planNamed} from '../plans/plans.ts';
import {FALLBACK_PLAN} from './apply-subscription.ts';

/** A plan with its name. */
export type PlanForSale = {name: string; plan: Plan};

/**
 * A plan that is bought by checkout: neither the free one nor one without a price (contract/billing 2), in the currency
 * where it is known. @throws 400.
 */
export const requirePlanForSale = (plans: Plans, name: string, currency: Currency | null = null): PlanForSale => {
	const known = planNamed(plans, name);
	const plan = known === null ? undefined : plans[known];
	if (known === null || plan === undefined) {
		throw unknownPlan(name);
	}

	const {prices} = plan;
	const price = currency === null ? Math.max(prices.USD, prices.EGP) : prices[currency];
	if (known === FALLBACK_PLAN || price === 0) {
		throw planNotForSale(known);
	}

	return {name: known, plan};
};

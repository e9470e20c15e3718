import {type Currency, FREE_PLAN, type Plan, type Plans, planNamed} from '../../platform/config/plans.ts';
import {planNotForSale, unknownPlan} from '../../platform/errors.ts';

/** A plan with its name. */
export type PlanForSale = {name: string; plan: Plan};

/**
 * A plan that a checkout can buy: not the free one, nor one without a price (contract/billing 2).
 * @param currency null: a price in any currency will do. @throws 400.
 */
export const requirePlanForSale = (plans: Plans, name: string, currency: Currency | null = null): PlanForSale => {
	const known = planNamed(plans, name);
	const plan = known === null ? undefined : plans[known];
	if (known === null || plan === undefined) {
		throw unknownPlan(name);
	}

	const {prices} = plan;
	const price = currency === null ? Math.max(prices.USD, prices.EGP) : prices[currency];
	if (known === FREE_PLAN || price === 0) {
		throw planNotForSale(known);
	}

	return {name: known, plan};
};

/** The price list in one currency, in the order of the plans file; 0: the price is negotiated (contract/portal 10). */
export const planPrices = (plans: Plans, currency: Currency) =>
	Object.entries(plans).map(([plan, {prices, features, quotas}]) => ({
		plan,
		currency,
		amount: prices[currency],
		interval: 'month' as const,
		features,
		quotas,
	}));

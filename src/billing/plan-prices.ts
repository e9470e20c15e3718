import type {Currency, Plans} from '../plans/plans.ts';

/**
 * The price list in one currency, in the order of the plans file; 0 stands for a price that is agreed
 * (contract/portal 10).
 */
export const planPrices = (plans: Plans, currency: Currency) =>
	Object.entries(plans).map(([plan, {prices, features, quotas}]) => ({
		plan,
		currency,
		amount: prices[currency],
		interval: 'month' as const,
		features,
		quotas,
	}));

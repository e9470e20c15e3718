import type Stripe from 'stripe';
import {type Account, known, nulls} from './account.ts';

export type PriceInput = {
	/** Minor units. */
	amount: number;
	currency?: string;
	interval?: 'month' | 'year';
};

/** On the wire a decimal is text; the library's type is what it makes of that. */
export const decimal = (minor: number): NonNullable<Stripe.Price['unit_amount_decimal']> =>
	String(minor) as unknown as NonNullable<Stripe.Price['unit_amount_decimal']>;

/** A price as the dashboard would make it. The same id again changes it. */
export const setPrice = (
	account: Account,
	id: string,
	{amount, currency = 'usd', interval = 'month'}: PriceInput,
): Stripe.Price => {
	const price: Stripe.Price = {
		id,
		object: 'price',
		active: true,
		billing_scheme: 'per_unit',
		created: account.now(),
		currency,
		...nulls('custom_unit_amount lookup_key nickname tiers_mode transform_quantity'),
		livemode: false,
		metadata: {},
		product: `prod_${id.replace(/^price_/, '')}`,
		recurring: {interval, interval_count: 1, meter: null, trial_period_days: null, usage_type: 'licensed'},
		tax_behavior: 'unspecified',
		type: 'recurring',
		unit_amount: amount,
		unit_amount_decimal: decimal(amount),
	};
	account.prices.set(id, price);
	return price;
};

/** Minor units of a period. */
export const amountOf = (price: Stripe.Price, quantity = 1): number => (price.unit_amount ?? 0) * quantity;

/** The price's older twin, which items still carry. */
export const planOf = (account: Account, id: string): Stripe.Plan => {
	const {active, created, currency, product, recurring, unit_amount} = known(account.prices, id);
	return {
		id,
		object: 'plan',
		active,
		amount: unit_amount,
		amount_decimal: decimal(unit_amount ?? 0),
		billing_scheme: 'per_unit',
		created,
		currency,
		interval: recurring?.interval ?? 'month',
		interval_count: 1,
		livemode: false,
		metadata: {},
		...nulls('meter nickname tiers_mode transform_usage trial_period_days'),
		product: typeof product === 'string' ? product : product.id,
		usage_type: 'licensed',
	};
};

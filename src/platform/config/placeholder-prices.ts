import type {Plans} from './plans.ts';

/** Whether it is a price of the shipped plans file, which no gateway knows (contract/operations 11, `PLANS_FILE`). */
export const isPlaceholderPrice = (price: string): boolean => price.startsWith('price_oplink_');

/** A warning if plans are sold at placeholder prices, else null. */
export const placeholderWarning = (plans: Plans): string | null => {
	const names = Object.entries(plans).flatMap(([name, {stripePrice}]) =>
		stripePrice !== null && isPlaceholderPrice(stripePrice) ? [name] : [],
	);
	return names.length === 0
		? null
		: `PLANS_FILE has placeholders for the prices of ${names.join(', ')}: they cannot be bought through Stripe`;
};

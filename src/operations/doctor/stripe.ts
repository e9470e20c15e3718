import type Stripe from 'stripe';
import {createStripe} from '../../accounts/billing/stripe/stripe-client.ts';
import type {Config} from '../../platform/config/config.ts';
import {isPlaceholderPrice, type Plan} from '../../platform/config/plans.ts';
import {type Finding, findingsOf, present} from '../finding.ts';

const {ok, warn, fail} = findingsOf('Stripe');

const OPTIONS = {timeout: 5000, maxNetworkRetries: 0};

/** A plan's price that exists at the gateway, and the plan's name. */
type ListedPrice = {plan: string; id: string; amount: number};

const soldPrices = (plans: Readonly<Record<string, Plan>>): ListedPrice[] =>
	Object.entries(plans).flatMap(([plan, {stripePrice, prices}]) =>
		stripePrice === null || isPlaceholderPrice(stripePrice) ? [] : [{plan, id: stripePrice, amount: prices.USD}],
	);

const judgePrice = ({plan, id, amount}: ListedPrice, price: Stripe.Price): Finding[] => {
	const next = `Correct the price of ${plan} in PLANS_FILE, or at the gateway`;
	if (!price.active) {
		return [fail('stripe.price', `price ${id} of ${plan} is archived: nobody can buy the plan`, next)];
	}

	const isSame = price.currency === 'usd' && price.unit_amount === amount && price.recurring?.interval === 'month';
	return isSame
		? []
		: [warn('stripe.price', `price ${id} of ${plan} is not ${amount} US cents a month, as the price list says`, next)];
};

/** The finding for an error of the library. */
const judgeError = (error: unknown, sold?: ListedPrice): Finding => {
	const {type, code, message} = error as {type?: string; code?: string; message: string};
	if (type === 'StripeAuthenticationError') {
		return fail('stripe.key', 'Stripe refuses STRIPE_SECRET_KEY', 'Set STRIPE_SECRET_KEY to a key that is valid');
	}

	if (code === 'resource_missing' && sold) {
		return fail(
			'stripe.price',
			`price ${sold.id} of ${sold.plan} does not exist`,
			'Correct stripePrice in PLANS_FILE; test and live mode have separate prices',
		);
	}

	return type === 'StripePermissionError'
		? warn('stripe.key', 'the key has no permission to read prices', 'Allow the restricted key to read prices')
		: fail(
				'stripe.reachable',
				`Stripe cannot be queried: ${message}`,
				'Try again; compare STRIPE_API_URL if it is set',
			);
};

/** Checks Stripe: whether it accepts the key, and whether the plans' prices exist. */
export const checkStripe = async ({stripe: given, plans}: Config): Promise<Finding[]> => {
	if (given === null) {
		return [ok('stripe.configured', 'off')];
	}

	const stripe = createStripe(given);
	const sold = soldPrices(plans);
	const asked = await Promise.all(
		sold.length === 0
			? [
					stripe.prices.list({limit: 1}, OPTIONS).then(
						(): Finding[] => [],
						(error: unknown) => [judgeError(error)],
					),
				]
			: sold.map((one) =>
					stripe.prices.retrieve(one.id, {}, OPTIONS).then(
						(price) => judgePrice(one, price),
						(error: unknown) => [judgeError(error, one)],
					),
				),
	);
	// A refused key fails for each price; report it once.
	const faults = [...new Map(asked.flat().map((finding) => [finding.message, finding])).values()];
	return present([
		...(faults.length > 0 ? faults : [ok('stripe.key', 'it accepts the key')]),
		given.webhookSecret === null &&
			warn('stripe.webhookSecret', 'STRIPE_WEBHOOK_SECRET is not set: payments are never received', 'Set it'),
	]);
};

import {fail} from 'node:assert/strict';
import type {ExecutionContext} from 'ava';
import Stripe from 'stripe';
import {type FakeStripe, type FakeStripeOptions, startFakeStripe} from '../../fakes/stripe/stripe.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

export const GROWTH = 'price_oplink_growth';
export const SOLO = 'price_oplink_solo';
export const SCALE = 'price_oplink_scale';

/** The official library pointed at a fake. */
export const libraryFor = ({env}: Pick<FakeStripe, 'env'>, settings: Stripe.StripeConfig = {}): Stripe => {
	const {hostname: host, port} = new URL(env.STRIPE_API_URL);
	return new Stripe(env.STRIPE_SECRET_KEY, {host, port, protocol: 'http', telemetry: false, ...settings});
};

/** A customer with an open checkout. */
export const openCheckout = async (stripe: Stripe, price = GROWTH): Promise<Stripe.Checkout.Session> => {
	const customer = await stripe.customers.create({email: 'owner@acme.test', name: 'Acme', metadata: {orgId: 'o-1'}});
	const metadata = {orgId: 'o-1', attemptId: 'a-1'};
	return stripe.checkout.sessions.create({
		mode: 'subscription',
		customer: customer.id,
		line_items: [{price, quantity: 1}],
		client_reference_id: 'a-1',
		metadata,
		subscription_data: {metadata},
		success_url: 'https://portal.example.com/done?session_id={CHECKOUT_SESSION_ID}',
		cancel_url: 'https://portal.example.com/plans',
	});
};

/** The item of a subscription. */
export const onlyItem = ({items}: Stripe.Subscription): Stripe.SubscriptionItem =>
	(items.data.length === 1 && items.data[0]) || fail('a subscription of not one item');

export const unixOf = (iso: string): number => Date.parse(iso) / 1000;

/** The fake, the library, which does not repeat a call by itself, and what tests do with them. */
export const startStripe = async (t: ExecutionContext, options: Omit<FakeStripeOptions, 'clock'> = {}) => {
	const clock = createFakeClock();
	const fake = await startedIn(t, startFakeStripe({clock, ...options}));
	const stripe = libraryFor(fake, {maxNetworkRetries: 0});
	return {
		clock,
		fake,
		stripe,
		/** Sets the clock; what that causes at the gateway happens with the next call. */
		setTime: (iso: string) => clock.set(new Date(iso)),
		/** Amounts that were charged, without refunds. */
		amounts: () => fake.charges.map(({amount, refunded}) => amount - refunded),
		/** The types of the events that wait. */
		waiting: () => fake.events.map(({type}) => type),
		openCheckout: (price?: string) => openCheckout(stripe, price),
		/** A subscription that was just paid at the checkout. Its events are dropped. */
		subscribe: async (price?: string): Promise<Stripe.Subscription> => {
			const {id} = await openCheckout(stripe, price);
			fake.pay(id);
			fake.events.length = 0;
			const {subscription} = await stripe.checkout.sessions.retrieve(id);
			return stripe.subscriptions.retrieve(String(subscription), {expand: ['latest_invoice']});
		},
		/** Changes to a dearer price at once, as the service does. */
		upgrade: (before: Stripe.Subscription, price: string, idempotencyKey = 'up:a-1') =>
			stripe.subscriptions.update(
				before.id,
				{
					items: [{id: onlyItem(before).id, price}],
					proration_behavior: 'always_invoice',
					payment_behavior: 'pending_if_incomplete',
					expand: ['latest_invoice'],
				},
				{idempotencyKey},
			),
	};
};

import type {ExecutionContext} from 'ava';
import Stripe from 'stripe';
import {type FakeStripe, type FakeStripeOptions, startFakeStripe} from '../../fakes/stripe/stripe.ts';
import {createFakeClock, type FakeClock} from '../../helpers/service.ts';

export const GROWTH = 'price_oplink_growth';
export const SOLO = 'price_oplink_solo';
export const SCALE = 'price_oplink_scale';

export type Fixture = {
	clock: FakeClock;
	fake: FakeStripe;
	stripe: Stripe;
	/** Sets the clock, to a time of the text; what that causes at the gateway happens with the next call. */
	setTime(iso: string): void;
	/** Amounts that were charged, without refunds. */
	amounts(): number[];
};

/** The fake, and the official library pointed at it, which does not repeat a call by itself. */
export const startStripe = async (
	t: ExecutionContext,
	options: Omit<FakeStripeOptions, 'clock'> = {},
): Promise<Fixture> => {
	const clock = createFakeClock();
	const fake = await startFakeStripe({clock, ...options});
	t.teardown(fake.stop);
	const {hostname, port} = new URL(fake.env.STRIPE_API_URL);
	const stripe = new Stripe(fake.env.STRIPE_SECRET_KEY, {
		host: hostname,
		port,
		protocol: 'http',
		maxNetworkRetries: 0,
		telemetry: false,
	});
	return {
		clock,
		fake,
		stripe,
		setTime: (iso) => clock.set(new Date(iso)),
		amounts: () => fake.charges.map(({amount, refunded}) => amount - refunded),
	};
};

/** A customer with an open checkout. */
export const openCheckout = async (
	{stripe}: Pick<Fixture, 'stripe'>,
	price = GROWTH,
): Promise<Stripe.Checkout.Session> => {
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

/** A subscription that was just paid at the checkout. Its events are dropped. */
export const subscribe = async (fixture: Fixture, price = GROWTH): Promise<Stripe.Subscription> => {
	const session = await openCheckout(fixture, price);
	fixture.fake.pay(session.id);
	fixture.fake.events.length = 0;
	const {subscription} = await fixture.stripe.checkout.sessions.retrieve(session.id);
	return fixture.stripe.subscriptions.retrieve(String(subscription), {expand: ['latest_invoice']});
};

/** Changes to a dearer price at once, as the service does. */
export const upgrade = ({stripe}: Fixture, before: Stripe.Subscription, price: string, idempotencyKey?: string) =>
	stripe.subscriptions.update(
		before.id,
		{
			items: [{id: onlyItem(before).id, price}],
			proration_behavior: 'always_invoice',
			payment_behavior: 'pending_if_incomplete',
			expand: ['latest_invoice'],
		},
		idempotencyKey === undefined ? {} : {idempotencyKey},
	);

/** The item of a subscription. */
export const onlyItem = ({items}: Stripe.Subscription): Stripe.SubscriptionItem => {
	const [item] = items.data;
	if (item === undefined || items.data.length > 1) {
		throw new Error('A subscription of not one item');
	}

	return item;
};

export const unixOf = (iso: string): number => Date.parse(iso) / 1000;

/** The types of the events that wait. */
export const waiting = ({events}: FakeStripe): string[] => events.map(({type}) => type);

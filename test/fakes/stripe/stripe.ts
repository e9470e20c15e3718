import {createHmac, randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {Clock} from '../../../src/platform/clock.ts';
import {readPlans} from '../../../src/platform/config/plans.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {page} from '../gateway/page.ts';
import type {Call} from '../shared/faults.ts';
import {startServer} from '../shared/http-server.ts';
import {createWebhookQueue, type WebhookEvent} from '../shared/webhook-queue.ts';
import {
	type Account,
	API_VERSION,
	type CardBehavior,
	type Charge,
	createAccount,
	defaultSettings,
	known,
	newId,
	type RequestSource,
	type Settings,
} from './account.ts';
import {createApi} from './api.ts';
import {completeSession, readSession, settleSession} from './checkout.ts';
import {tryInvoice} from './invoices.ts';
import {type PriceInput, setPrice} from './new-price.ts';
import {answerPage, cancelInPortal} from './pages.ts';
import {StripeError} from './stripe-errors.ts';
import {catchUp} from './time.ts';

type StripeEvent = WebhookEvent & {
	/** The object as it was when it happened. */
	object: {id: string};
};

/** The types that the endpoint receives (contract/billing 18); the fake creates more, as the real one does. */
const ENABLED_EVENTS = [
	'checkout.session.completed',
	'checkout.session.expired',
	'checkout.session.async_payment_succeeded',
	'checkout.session.async_payment_failed',
	'customer.subscription.created',
	'customer.subscription.updated',
	'customer.subscription.deleted',
	'invoice.paid',
	'invoice.payment_failed',
	'invoice.payment_action_required',
];

/** The header over `${t}.${body}` (contract/billing 17). The key is the whole secret, `whsec_` included. */
const signatureHeader = (body: string, secret: string, at: Date): string => {
	const t = Math.floor(at.getTime() / 1000);
	return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};

/** An event about an object as it is now. */
const newEvent = (
	type: string,
	object: {id: string},
	{created, request, previous}: {created: number; request: RequestSource; previous?: object | undefined},
): StripeEvent => {
	const id = newId('evt');
	const snapshot = structuredClone(object);
	const body = JSON.stringify({
		id,
		object: 'event',
		api_version: API_VERSION,
		created,
		data: {object: snapshot, ...(previous === undefined ? {} : {previous_attributes: previous})},
		livemode: false,
		pending_webhooks: 1,
		request,
		type,
	});
	return {id, type, body, object: snapshot};
};

/** The endpoint's queue of events. */
const createEvents = (clock: Clock, secret: string) =>
	createWebhookQueue<StripeEvent>('/webhook/gateway-a', ({body}, options = {}) => ({
		headers: {
			'stripe-signature': signatureHeader(body, options.secret ?? secret, options.at ?? clock.now()),
			'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
		},
	}));

export type {Charge, StripeEvent};

export type FakeStripeOptions = {
	/** The one of the service under test: what it passes happens here too. */
	clock: Clock;
	/** 0 picks a free one. */
	port?: number;
	secretKey?: string;
	webhookSecret?: string;
	/** Prices by id; by default those of the plans file as it is shipped, in USD a month. */
	prices?: Record<string, PriceInput>;
	settings?: Partial<Settings>;
};

export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>;

/**
 * The prices of the shipped plans, which name placeholders that are sent as they are (contract/operations 11, PLANS_FILE).
 */
const shippedPrices = (): Record<string, PriceInput> => {
	const plans = readPlans(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8'));
	return Object.fromEntries(
		Object.values(plans).flatMap(({stripePrice, prices}) =>
			stripePrice === null ? [] : [[stripePrice, {amount: prices.USD}]],
		),
	);
};

/**
 * A payment gateway on loopback that speaks the wire format of contract/billing 14 and keeps its state: the
 * API, hosted pages, the passing of time, signed webhooks, and faults on demand.
 */
export const startFakeStripe = async ({
	clock,
	port = 0,
	secretKey = `sk_test_${randomBytes(16).toString('hex')}`,
	webhookSecret = `whsec_${randomBytes(16).toString('hex')}`,
	prices = shippedPrices(),
	settings = {},
}: FakeStripeOptions) => {
	const queue = createEvents(clock, webhookSecret);
	const event = (type: string, object: {id: string}, previous?: object) =>
		newEvent(type, object, {created: account.now(), request: account.request, previous});
	const account: Account = createAccount({
		clock,
		settings: {...defaultSettings, ...settings},
		emit: (type, object, previous) => {
			if (ENABLED_EVENTS.includes(type)) {
				queue.add(event(type, object, previous));
			}
		},
	});
	for (const [id, price] of Object.entries(prices)) {
		setPrice(account, id, price);
	}

	const api = createApi(account, secretKey);
	const answerPerson = (call: Call) => {
		try {
			catchUp(account);
			return answerPage(account, call);
		} catch (error) {
			return page('Not possible', String(error), error instanceof StripeError ? error.status : 500);
		}
	};
	const server = await startServer({
		answer: (call) => (call.path.startsWith('/v1/') ? api.answer(call) : answerPerson(call)),
		failure: api.failure,
		port,
	});
	account.url = server.url;

	return {
		...queue,
		...server,
		/** The variables that make a service use it. */
		env: {STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: server.url},
		/**
		 * The customer pays: a checkout session, or an open invoice on its hosted page. From then on the card works.
		 * @param how `delayed`: by a method that takes days, for a session; `settle` says what became of it.
		 */
		pay: (id: string, how?: 'delayed'): void => {
			catchUp(account);
			if (id.startsWith('cs_')) {
				completeSession(account, id, how === 'delayed');
			} else {
				tryInvoice(account, id, 'works');
			}
		},
		/** What became of a delayed payment. */
		settle: (sessionId: string, succeeded: boolean): void => {
			catchUp(account);
			settleSession(account, sessionId, succeeded);
		},
		/** The card is refused at the checkout, which stays open, or for an open invoice. */
		decline: (id: string): void => {
			catchUp(account);
			if (id.startsWith('cs_')) {
				readSession(account, id);
			} else {
				tryInvoice(account, id, 'declines');
			}
		},
		/** What the customer's card does from now on, when a renewal or an upgrade is charged. */
		setCard: (customer: string, behavior: CardBehavior): void => {
			account.cards.set(known(account.customers, customer).id, behavior);
		},
		/** The customer cancels a subscription in the hosted portal, as the settings say. */
		cancelInPortal: (subscription: string): void => {
			catchUp(account);
			cancelInPortal(account, subscription);
		},
		/** Sets or changes a price of the dashboard. */
		setPrice: (id: string, price: PriceInput) => setPrice(account, id, price),
		/**
		 * Lets happen what the clock passed: renewals, retries, expiries. Every request does that by itself, so this is
		 * for a test that wants the events before anybody asked.
		 */
		advance: (): void => catchUp(account),
		/** An event of the test's making, signed like the others when it is sent. */
		event,
		/** All money that was taken, oldest first, with what was given back. */
		charges: account.charges,
		/** What it knows, for reading, and `settings` for writing. */
		account,
	};
};

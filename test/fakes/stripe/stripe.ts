import {randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type Stripe from 'stripe';
import type {Clock} from '../../../src/platform/clock.ts';
import {readPlans} from '../../../src/platform/config/plans.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {type DirectFetch, type Reply, startGatewayServer} from '../gateway/http-server.ts';
import {page} from '../gateway/page.ts';
import type {WebhookQueue} from '../gateway/webhook-queue.ts';
import {type Call, createFaults, type Fault, type FaultInput} from '../identity-provider/faults.ts';
import {
	type Account,
	type CardBehavior,
	type Charge,
	createAccount,
	defaultSettings,
	known,
	type Settings,
} from './account.ts';
import {createApi} from './api.ts';
import {completeSession, readSession, settleSession} from './checkout.ts';
import {createEvents, ENABLED_EVENTS, newEvent, type StripeEvent} from './events.ts';
import {tryInvoice} from './invoices.ts';
import {type PriceInput, setPrice} from './new-price.ts';
import {answerPage, cancelInPortal} from './pages.ts';
import {StripeError} from './stripe-errors.ts';
import {catchUp} from './time.ts';

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
	/** Types of events that are collected; all that the endpoint needs unless given. */
	enabledEvents?: string[];
	/** More paths, as the development server has; null: none of them. */
	more?: (call: Call) => Reply | null;
};

export type FakeStripe = Pick<
	WebhookQueue<StripeEvent>,
	'events' | 'history' | 'sign' | 'send' | 'deliver' | 'deliverTogether' | 'onEvent'
> & {
	url: string;
	/** Calls it without a socket, for a test that makes very many calls. */
	fetch: DirectFetch;
	/** The variables that make a service use it. */
	env: Record<'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET' | 'STRIPE_API_URL', string>;
	/**
	 * The customer pays: a checkout session, or an open invoice on its hosted page. From then on the card works.
	 * @param how `delayed`: by a method that takes days, for a session; `settle` says what became of it.
	 */
	pay(id: string, how?: 'delayed'): void;
	/** What became of a delayed payment. */
	settle(sessionId: string, succeeded: boolean): void;
	/** The card is refused at the checkout, which stays open, or for an open invoice. */
	decline(id: string): void;
	/** What the customer's card does from now on, when a renewal or an upgrade is charged. */
	setCard(customer: string, behavior: CardBehavior): void;
	/** The customer cancels a subscription in the hosted portal, as the settings say. */
	cancelInPortal(subscription: string): void;
	/** Sets or changes a price of the dashboard. */
	setPrice(id: string, price: PriceInput): Stripe.Price;
	/**
	 * Lets happen what the clock passed: renewals, retries, expiries. Every request does that by itself, so this is for
	 * a test that wants the events before anybody asked.
	 */
	advance(): void;
	/** An event of the test's making, signed like the others when it is sent. */
	event(type: string, object: {id: string}, previous?: object): StripeEvent;
	/** The collected events that name any of these ids, oldest first. */
	eventsAbout(...ids: string[]): StripeEvent[];
	/**
	 * Makes next calls fail. The official library repeats a call by itself: as often as its settings say, twice by
	 * default, and once in any case where the connection breaks.
	 */
	fail(fault: FaultInput): Fault;
	clearFaults(): void;
	/** Every request so far, oldest first; form-encoded bodies as nested parameters. */
	calls: Call[];
	/** All money that was taken, oldest first, with what was given back. */
	charges: Charge[];
	/** What it knows, for reading, and `settings` for writing. */
	account: Account;
	stop(): Promise<void>;
};

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
	enabledEvents = ENABLED_EVENTS,
	more = () => null,
}: FakeStripeOptions): Promise<FakeStripe> => {
	const queue = createEvents(clock, webhookSecret);
	const account = createAccount({
		clock,
		settings: {...defaultSettings, ...settings},
		emit: (from, type, object, previous) => {
			if (enabledEvents.includes(type)) {
				queue.add(newEvent(type, object, {created: from.now(), request: from.request, previous}));
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
	const faults = createFaults();
	const calls: Call[] = [];
	const server = await startGatewayServer({
		answer: (call) => (call.path.startsWith('/v1/') ? api.answer(call) : (more(call) ?? answerPerson(call))),
		failure: api.failure,
		faults,
		calls,
		port,
	});
	account.url = server.url;
	const afterCatchingUp = (work: () => void): void => {
		catchUp(account);
		work();
	};
	const {events, history, sign, send, deliver, deliverTogether, onEvent} = queue;

	return {
		...{events, history, sign, send, deliver, deliverTogether, onEvent},
		url: server.url,
		fetch: server.fetch,
		env: {STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: server.url},
		pay: (id, how) =>
			afterCatchingUp(() => {
				if (id.startsWith('cs_')) {
					completeSession(account, id, how === 'delayed');
				} else {
					tryInvoice(account, id, 'works');
				}
			}),
		settle: (id, succeeded) => afterCatchingUp(() => void settleSession(account, id, succeeded)),
		decline: (id) =>
			afterCatchingUp(() => {
				if (id.startsWith('cs_')) {
					readSession(account, id);
				} else {
					tryInvoice(account, id, 'declines');
				}
			}),
		setCard: (customer, behavior) => {
			account.cards.set(known(account.customers, customer).id, behavior);
		},
		cancelInPortal: (subscription) => afterCatchingUp(() => cancelInPortal(account, subscription)),
		setPrice: (id, price) => setPrice(account, id, price),
		advance: () => catchUp(account),
		event: (type, object, previous) =>
			newEvent(type, object, {created: account.now(), request: account.request, previous}),
		eventsAbout: (...ids) => events.filter(({body}) => ids.some((id) => body.includes(`"${id}"`))),
		fail: faults.add,
		clearFaults: faults.clear,
		calls,
		charges: account.charges,
		account,
		stop: server.stop,
	};
};

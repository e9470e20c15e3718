import {randomBytes} from 'node:crypto';
import type Stripe from 'stripe';
import type {Clock} from '../../../src/platform/clock.ts';
import {noSuch, noSuchReference} from './stripe-errors.ts';

export const API_VERSION = '2026-10-28.endive';

/** The references of stored objects are ids; `expand` puts the objects there in an answer. */
export type Customer = Stripe.Customer;
export type Session = Stripe.Checkout.Session & {customer: string; subscription: string | null; invoice: string | null};
export type Subscription = Stripe.Subscription & {
	customer: string;
	latest_invoice: string | null;
	schedule: string | null;
};
export type Invoice = Stripe.Invoice & {customer: string; billing_reason: string};
export type Schedule = Stripe.SubscriptionSchedule & {customer: string; subscription: string | null};
export type InvoicePayment = Stripe.InvoicePayment & {payment: {payment_intent: string}};
export type Refund = Stripe.Refund & {payment_intent: string; charge: string};

/** What becomes of the next payment with a customer's card. */
export type CardBehavior = 'works' | 'declines' | 'requires_action';

/** Money that was taken, and whose it is by the metadata that the service set. */
export type Charge = {
	id: string;
	paymentIntent: string;
	invoice: string;
	subscription: string;
	customer: string;
	/** Minor units. */
	amount: number;
	currency: string;
	reason: string;
	organizationId: string | null;
	/** Of the checkout that the subscription came from. */
	attemptId: string | null;
	/** Idempotency key of the request that took it; null where the hosted pages or the time did. */
	idempotencyKey: string | null;
	refunded: number;
	at: Date;
};

/** What a checkout session will make when it is paid. */
export type Order = {price: string; quantity: number; metadata: Stripe.Metadata};

/** What events say of the request that made them. */
export type RequestSource = {id: string | null; idempotency_key: string | null};

export type Settings = {
	/** How the hosted portal says that a subscription shall end: flexible billing sets `cancel_at` alone. */
	portalCancelsBy: 'cancel_at' | 'cancel_at_period_end';
	/** Whether a portal configuration was saved in the dashboard. */
	hasPortalConfiguration: boolean;
	/** Seconds that a renewal's invoice stays a draft before it is charged; the real one waits about an hour. */
	draftSeconds: number;
};

export const defaultSettings: Settings = {portalCancelsBy: 'cancel_at', hasPortalConfiguration: true, draftSeconds: 0};

export const NO_REQUEST: RequestSource = {id: null, idempotency_key: null};

/** An id that looks like the real one: `sub_1f…`. */
export const newId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;

/** The one that a reference of our own making points to. @throws where there is none: a fault of the fake. */
export const known = <T>(map: Map<string, T>, id: string | null): T => {
	const found = id === null ? undefined : map.get(id);
	if (found === undefined) {
		throw new Error(`The fake knows no ${id}`);
	}

	return found;
};

/** The object that a path names. @throws 404 where there is none. */
export const found = <T>(map: Map<string, T>, what: string, id: string): T => {
	const object = map.get(id);
	if (object === undefined) {
		throw noSuch(what, id);
	}

	return object;
};

/** The object that a parameter names. @throws 400 where there is none. */
export const named = <T>(map: Map<string, T>, what: string, id: string, param = what): T => {
	const object = map.get(id);
	if (object === undefined) {
		throw noSuchReference(what, id, param);
	}

	return object;
};

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Members that the fake leaves null, by their names. */
export const nulls = <Names extends string>(names: Names) =>
	Object.fromEntries(names.split(' ').map((name) => [name, null])) as Record<Words<Names>, null>;

/** Why a subscription ends; null while it does not. */
export const endingBy = (reason: Stripe.Subscription.CancellationDetails.Reason | null) => ({
	...nulls('comment feedback feedback_option'),
	reason,
});

/** All that the fake knows, before anything happened. Maps keep the order of creation. */
export const createAccount = ({
	clock,
	settings,
	emit,
}: {
	clock: Clock;
	settings: Settings;
	/** Something happened to an object, which had these values before. */
	emit(type: string, object: {id: string}, previous?: object): void;
}) => {
	let past: number | null = null;
	return {
		/** Of this server; hosted pages lie below. */
		url: '',
		/** Unix seconds. */
		now: (): number => past ?? Math.floor(clock.now().getTime() / 1000),
		/** Lets `work` happen at a time that has passed since: what was due, in its order. */
		at: <T>(seconds: number, work: () => T): T => {
			const before = past;
			past = seconds;
			try {
				return work();
			} finally {
				past = before;
			}
		},
		settings,
		emit,
		prices: new Map<string, Stripe.Price>(),
		customers: new Map<string, Customer>(),
		sessions: new Map<string, Session>(),
		orders: new Map<string, Order>(),
		subscriptions: new Map<string, Subscription>(),
		schedules: new Map<string, Schedule>(),
		invoices: new Map<string, Invoice>(),
		payments: new Map<string, InvoicePayment>(),
		portals: new Map<string, Stripe.BillingPortal.Session>(),
		refunds: new Map<string, Refund>(),
		/** By customer; a card that is not named works. */
		cards: new Map<string, CardBehavior>(),
		charges: [] as Charge[],
		/** Prorations that the next invoice of a subscription takes along. */
		pendingLines: new Map<string, Stripe.InvoiceLineItem[]>(),
		/** Of the request that is being answered. */
		request: NO_REQUEST,
	};
};

export type Account = ReturnType<typeof createAccount>;

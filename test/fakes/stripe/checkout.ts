import {type Account, found, known, named, type Order, type Session} from './account.ts';
import type {Params} from './form.ts';
import {newInvoice, periodLine} from './new-invoice.ts';
import {newSession} from './new-session.ts';
import {newSubscription} from './new-subscription.ts';
import {allowOnly, hashOf, integerOf, listOf, mergeMetadata, requiredText, textOf, wordOf} from './params.ts';
import {collect, finalizeInvoice} from './payments.ts';
import {invalidParam, missingParam, notAllowed} from './stripe-errors.ts';
import {endSubscription, recover} from './subscription-status.ts';

const HALF_HOUR = 1800;
const DAY = 86_400;

const orderOf = (account: Account, params: Params): Order => {
	const [line, ...more] = listOf(params, 'line_items') ?? [];
	if (line === undefined) {
		throw missingParam('line_items');
	}

	if (more.length > 0) {
		throw invalidParam('line_items', 'This fake sells one line at a time');
	}

	allowOnly(line, ['price', 'quantity'], 'line_items[0]');
	const price = named(account.prices, 'price', requiredText(line, 'price'), 'line_items[0][price]');
	const data = hashOf(params, 'subscription_data') ?? {};
	allowOnly(data, ['metadata', 'description'], 'subscription_data');
	return {price: price.id, quantity: integerOf(line, 'quantity') ?? 1, metadata: mergeMetadata({}, data)};
};

const expiryOf = (account: Account, params: Params): number => {
	const given = integerOf(params, 'expires_at');
	const now = account.now();
	if (given !== null && (given < now + HALF_HOUR || given > now + DAY)) {
		throw invalidParam(
			'expires_at',
			'The `expires_at` timestamp must be at least 30 minutes and at most 24 hours from Checkout Session creation.',
		);
	}

	return given ?? now + DAY;
};

/** `POST /v1/checkout/sessions`, for subscriptions. */
export const createSession = (account: Account, params: Params): Session => {
	allowOnly(params, [
		'mode',
		'customer',
		'line_items',
		'client_reference_id',
		'metadata',
		'subscription_data',
		'success_url',
		'cancel_url',
		'expires_at',
		'locale',
		'allow_promotion_codes',
		'billing_address_collection',
	]);
	requiredText(params, 'mode');
	wordOf(params, 'mode', ['subscription']);
	const order = orderOf(account, params);
	return newSession(account, {
		customer: named(account.customers, 'customer', requiredText(params, 'customer')).id,
		order,
		clientReferenceId: textOf(params, 'client_reference_id', 200),
		metadata: mergeMetadata({}, params),
		successUrl: requiredText(params, 'success_url'),
		cancelUrl: textOf(params, 'cancel_url'),
		expiresAt: expiryOf(account, params),
	});
};

export const readSession = (account: Account, id: string): Session => found(account.sessions, 'checkout.session', id);

/** @throws 400 unless the session still waits. */
export const expireSession = (account: Account, id: string): Session => {
	const session = readSession(account, id);
	if (session.status !== 'open') {
		throw notAllowed(
			`Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ` +
				`\`${session.status}\`.`,
		);
	}

	Object.assign(session, {status: 'expired', url: null});
	account.emit('checkout.session.expired', session);
	return session;
};

/**
 * The customer finished a checkout.
 * @param delayed by a method that pays days later: the subscription is there, and waits.
 * @throws where the session does not wait any more.
 */
export const completeSession = (account: Account, id: string, delayed = false): Session => {
	const session = readSession(account, id);
	if (session.status !== 'open') {
		throw notAllowed(`The checkout session ${id} is ${session.status}`);
	}

	const subscription = newSubscription(account, session.customer, known(account.orders, id));
	subscription.status = delayed ? 'incomplete' : 'active';
	account.cards.delete(session.customer);
	const invoice = newInvoice(account, subscription, 'subscription_create', [periodLine(subscription)]);
	account.emit('customer.subscription.created', subscription);
	finalizeInvoice(account, invoice);
	if (!delayed) {
		collect(account, invoice, 'works');
	}

	Object.assign(session, {
		status: 'complete',
		payment_status: delayed ? 'unpaid' : 'paid',
		subscription: subscription.id,
		invoice: invoice.id,
		url: null,
	});
	account.emit('checkout.session.completed', session);
	return session;
};

/** What became of a delayed payment. */
export const settleSession = (account: Account, id: string, succeeded: boolean): Session => {
	const session = readSession(account, id);
	const invoice = known(account.invoices, session.invoice);
	const subscription = known(account.subscriptions, session.subscription);
	if (collect(account, invoice, succeeded ? 'works' : 'declines')) {
		recover(account, subscription, invoice);
		session.payment_status = 'paid';
		account.emit('checkout.session.async_payment_succeeded', session);
	} else {
		account.emit('checkout.session.async_payment_failed', session);
		endSubscription(account, subscription, 'payment_failed');
	}

	return session;
};

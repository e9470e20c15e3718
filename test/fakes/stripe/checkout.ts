import {type Account, found, known, named, newId, nulls, type Order, type Session} from './account.ts';
import type {Params} from './form.ts';
import {newInvoice, periodLine} from './new-invoice.ts';
import {amountOf} from './new-price.ts';
import {newSubscription, noTax} from './new-subscription.ts';
import {allowOnly, hashOf, integerOf, listOf, mergeMetadata, requiredText, textOf, wordOf} from './params.ts';
import {collect, finalizeInvoice} from './payments.ts';
import {invalidParam, missingParam, notAllowed} from './stripe-errors.ts';
import {endSubscription, recover} from './subscription-status.ts';

type SessionInput = {
	customer: string;
	order: Order;
	clientReferenceId: string | null;
	metadata: Record<string, string>;
	successUrl: string;
	cancelUrl: string | null;
	expiresAt: number;
};

/** A checkout that waits for its customer. It is stored, with what it shall make. */
const newSession = (account: Account, input: SessionInput): Session => {
	const id = newId('cs_test');
	const price = known(account.prices, input.order.price);
	const amount = amountOf(price, input.order.quantity);
	const {email, name} = known(account.customers, input.customer);
	const session: Session = {
		id,
		object: 'checkout.session',
		adaptive_pricing: {enabled: false},
		...nulls('after_expiration allow_promotion_codes allowed_payment_method_types billing_address_collection'),
		...nulls('client_secret collected_information consent consent_collection currency_conversion customer_account'),
		...nulls('customer_creation customer_email integration_identifier invoice invoice_creation locale'),
		...nulls('origin_context payment_intent payment_link payment_method_configuration_details'),
		...nulls('payment_method_options permissions recovered_from setup_intent shipping_address_collection'),
		...nulls('shipping_cost submit_type subscription wallet_options'),
		amount_subtotal: amount,
		amount_total: amount,
		automatic_tax: noTax,
		cancel_url: input.cancelUrl,
		client_reference_id: input.clientReferenceId,
		created: account.now(),
		currency: price.currency,
		custom_fields: [],
		custom_text: nulls('after_submit shipping_address submit terms_of_service_acceptance'),
		customer: input.customer,
		customer_details: {
			...nulls('address business_name individual_name phone tax_ids'),
			email,
			name: name ?? null,
			tax_exempt: 'none',
		},
		discounts: [],
		expires_at: input.expiresAt,
		livemode: false,
		managed_payments: {enabled: false},
		metadata: input.metadata,
		mode: 'subscription',
		payment_method_collection: 'always',
		payment_method_types: ['card'],
		payment_status: 'unpaid',
		saved_payment_method_options: {
			allow_redisplay_filters: ['always'],
			payment_method_remove: 'disabled',
			payment_method_save: null,
		},
		shipping_options: [],
		status: 'open',
		success_url: input.successUrl,
		total_details: {amount_discount: 0, amount_shipping: 0, amount_tax: 0},
		ui_mode: 'hosted_page',
		url: `${account.url}/c/pay/${id}`,
	};
	account.sessions.set(id, session);
	account.orders.set(id, input.order);
	return session;
};

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

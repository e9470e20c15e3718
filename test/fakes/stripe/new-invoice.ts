import type Stripe from 'stripe';
import {type Account, type Invoice, known, newId, type Subscription} from './account.ts';
import {amountOf, decimal} from './new-price.ts';
import {itemOf, noTax} from './new-subscription.ts';

export type LineInput = {
	price: Stripe.Price;
	quantity: number;
	/** Minor units; what the price says unless given. */
	amount?: number;
	period: {start: number; end: number};
	proration?: boolean;
	description?: string;
};

/** One line of a subscription's invoice. */
export const newLine = (
	subscription: Subscription,
	{price, quantity, amount = amountOf(price, quantity), period, proration = false, description}: LineInput,
): Stripe.InvoiceLineItem => ({
	id: newId('il'),
	object: 'line_item',
	amount,
	currency: price.currency,
	description: description ?? `${quantity} × ${price.id}`,
	discount_amounts: [],
	discountable: !proration,
	discounts: [],
	invoice: null,
	livemode: false,
	metadata: {...subscription.metadata},
	parent: {
		invoice_item_details: null,
		subscription_item_details: {
			invoice_item: proration ? newId('ii') : null,
			proration,
			proration_details: proration ? {credited_items: null} : null,
			subscription: subscription.id,
			subscription_item: itemOf(subscription).id,
		},
		type: 'subscription_item_details',
	},
	period,
	pretax_credit_amounts: [],
	pricing: {
		price_details: {price: price.id, product: typeof price.product === 'string' ? price.product : price.product.id},
		type: 'price_details',
		unit_amount_decimal: decimal(price.unit_amount ?? 0),
	},
	quantity,
	quantity_decimal: decimal(quantity),
	subscription: subscription.id,
	subtotal: amount,
	taxes: [],
});

/** The line of a whole period. */
export const periodLine = (subscription: Subscription): Stripe.InvoiceLineItem => {
	const {price, quantity = 1, current_period_start: start, current_period_end: end} = itemOf(subscription);
	return newLine(subscription, {price, quantity, period: {start, end}});
};

/** A draft. It is stored, and the subscription knows it as its latest. */
export const newInvoice = (
	account: Account,
	subscription: Subscription,
	reason: string,
	lines: Stripe.InvoiceLineItem[],
): Invoice => {
	const id = newId('in');
	const customer = known(account.customers, subscription.customer);
	const total = lines.reduce((sum, {amount}) => sum + amount, 0);
	const now = account.now();
	const invoice: Invoice = {
		id,
		object: 'invoice',
		account_country: 'US',
		account_name: 'Oplink',
		account_tax_ids: null,
		amount_due: Math.max(total, 0),
		amount_overpaid: 0,
		amount_paid: 0,
		amount_remaining: Math.max(total, 0),
		amount_shipping: 0,
		application: null,
		attempt_count: 0,
		attempted: false,
		auto_advance: true,
		automatic_tax: noTax,
		automatically_finalizes_at: null,
		billing_reason: reason,
		collection_method: 'charge_automatically',
		created: now,
		currency: subscription.currency,
		custom_fields: null,
		customer: customer.id,
		customer_account: null,
		customer_address: null,
		customer_email: customer.email,
		customer_name: customer.name ?? null,
		customer_phone: null,
		customer_shipping: null,
		customer_tax_exempt: 'none',
		customer_tax_ids: [],
		default_payment_method: null,
		default_source: null,
		default_tax_rates: [],
		description: null,
		discounts: [],
		due_date: null,
		effective_at: null,
		ending_balance: null,
		footer: null,
		from_invoice: null,
		hosted_invoice_url: null,
		invoice_pdf: null,
		issuer: {type: 'self'},
		last_finalization_error: null,
		latest_revision: null,
		lines: {
			object: 'list',
			data: lines.map((line) => ({...line, invoice: id})),
			has_more: false,
			url: `/v1/invoices/${id}/lines`,
		},
		livemode: false,
		metadata: {},
		next_payment_attempt: null,
		number: null,
		on_behalf_of: null,
		parent: {
			quote_details: null,
			subscription_details: {metadata: {...subscription.metadata}, subscription: subscription.id},
			type: 'subscription_details',
		},
		payment_settings: {default_mandate: null, payment_method_options: null, payment_method_types: null},
		// Not the subscription's period: the one in which lines were collected (contract/billing 16).
		period_end: now,
		period_start: reason === 'subscription_cycle' ? subscription.start_date : now,
		post_payment_credit_notes_amount: 0,
		pre_payment_credit_notes_amount: 0,
		receipt_number: null,
		rendering: null,
		shipping_cost: null,
		shipping_details: null,
		starting_balance: customer.balance,
		statement_descriptor: null,
		status: 'draft',
		status_transitions: {finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null},
		subtotal: total,
		subtotal_excluding_tax: total,
		test_clock: null,
		total,
		total_discount_amounts: [],
		total_excluding_tax: total,
		total_pretax_credit_amounts: [],
		total_taxes: [],
		webhooks_delivered_at: null,
	};
	account.invoices.set(id, invoice);
	subscription.latest_invoice = id;
	account.emit('invoice.created', invoice);
	return invoice;
};

/** The subscription that an invoice is for. */
export const subscriptionOf = (account: Account, {parent}: Invoice): Subscription => {
	const reference = parent?.subscription_details?.subscription ?? null;
	return known(account.subscriptions, typeof reference === 'string' ? reference : null);
};

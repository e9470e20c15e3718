import type Stripe from 'stripe';
import {type Account, type Invoice, known, newId, nulls, type Subscription} from './account.ts';
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
		...nulls('account_tax_ids application automatically_finalizes_at custom_fields customer_account'),
		...nulls('customer_address customer_phone customer_shipping default_payment_method default_source description'),
		...nulls('due_date effective_at ending_balance footer from_invoice hosted_invoice_url invoice_pdf'),
		...nulls('last_finalization_error latest_revision next_payment_attempt number on_behalf_of receipt_number'),
		...nulls('rendering shipping_cost shipping_details statement_descriptor test_clock webhooks_delivered_at'),
		amount_due: Math.max(total, 0),
		amount_overpaid: 0,
		amount_paid: 0,
		amount_remaining: Math.max(total, 0),
		amount_shipping: 0,
		attempt_count: 0,
		attempted: false,
		auto_advance: true,
		automatic_tax: noTax,
		billing_reason: reason,
		collection_method: 'charge_automatically',
		created: now,
		currency: subscription.currency,
		customer: customer.id,
		customer_email: customer.email,
		customer_name: customer.name ?? null,
		customer_tax_exempt: 'none',
		customer_tax_ids: [],
		default_tax_rates: [],
		discounts: [],
		issuer: {type: 'self'},
		lines: {
			object: 'list',
			data: lines.map((line) => ({...line, invoice: id})),
			has_more: false,
			url: `/v1/invoices/${id}/lines`,
		},
		livemode: false,
		metadata: {},
		parent: {
			quote_details: null,
			subscription_details: {metadata: {...subscription.metadata}, subscription: subscription.id},
			type: 'subscription_details',
		},
		payment_settings: nulls('default_mandate payment_method_options payment_method_types'),
		// Not the subscription's period: the one in which lines were collected (contract/billing 16).
		period_end: now,
		period_start: reason === 'subscription_cycle' ? subscription.start_date : now,
		post_payment_credit_notes_amount: 0,
		pre_payment_credit_notes_amount: 0,
		starting_balance: customer.balance,
		status: 'draft',
		status_transitions: nulls('finalized_at marked_uncollectible_at paid_at voided_at'),
		subtotal: total,
		subtotal_excluding_tax: total,
		total,
		total_discount_amounts: [],
		total_excluding_tax: total,
		total_pretax_credit_amounts: [],
		total_taxes: [],
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

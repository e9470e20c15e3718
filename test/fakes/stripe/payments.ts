import {type Account, type CardBehavior, type Invoice, type InvoicePayment, known, newId} from './account.ts';
import {subscriptionOf} from './new-invoice.ts';

/** Gives an invoice its number, and settles it against what the customer's balance holds. */
export const finalizeInvoice = (account: Account, invoice: Invoice): void => {
	const customer = known(account.customers, invoice.customer);
	// A negative balance is the customer's money.
	const credit = Math.max(-customer.balance, 0);
	const spent = Math.min(credit, Math.max(invoice.total, 0));
	const gained = Math.max(-invoice.total, 0);
	const amountDue = Math.max(invoice.total - spent, 0);
	const finalized = [...account.invoices.values()].filter(
		({customer: owner, number}) => owner === customer.id && number !== null,
	);
	Object.assign(invoice, {
		number: `${customer.invoice_prefix}-${String(finalized.length + 1).padStart(4, '0')}`,
		status: 'open',
		starting_balance: customer.balance,
		ending_balance: customer.balance + spent - gained,
		amount_due: amountDue,
		amount_remaining: amountDue,
		automatically_finalizes_at: null,
		effective_at: account.now(),
		hosted_invoice_url: `${account.url}/i/${invoice.id}`,
		invoice_pdf: `${account.url}/i/${invoice.id}/pdf`,
		status_transitions: {...invoice.status_transitions, finalized_at: account.now()},
	});
	customer.balance += spent - gained;
	account.emit('invoice.finalized', invoice);
};

/** Takes what an invoice asks for, and writes down that it did. */
const charge = (account: Account, invoice: Invoice): void => {
	const {id: subscription, metadata} = subscriptionOf(account, invoice);
	const now = account.now();
	const paymentIntent = newId('pi');
	const payment: InvoicePayment = {
		id: newId('inpay'),
		object: 'invoice_payment',
		amount_paid: invoice.amount_due,
		amount_requested: invoice.amount_due,
		created: now,
		currency: invoice.currency,
		invoice: invoice.id,
		is_default: true,
		livemode: false,
		payment: {payment_intent: paymentIntent, type: 'payment_intent'},
		status: 'paid',
		status_transitions: {canceled_at: null, paid_at: now},
	};
	account.payments.set(payment.id, payment);
	account.charges.push({
		id: newId('ch'),
		paymentIntent,
		invoice: invoice.id,
		subscription,
		customer: invoice.customer,
		amount: invoice.amount_due,
		currency: invoice.currency,
		reason: invoice.billing_reason,
		organizationId: metadata['orgId'] ?? known(account.customers, invoice.customer).metadata['orgId'] ?? null,
		attemptId: metadata['attemptId'] ?? null,
		idempotencyKey: account.request.idempotency_key,
		refunded: 0,
		at: new Date(now * 1000),
	});
};

const markPaid = (account: Account, invoice: Invoice): void => {
	Object.assign(invoice, {
		status: 'paid',
		amount_paid: invoice.amount_due,
		amount_remaining: 0,
		attempted: true,
		auto_advance: false,
		next_payment_attempt: null,
		status_transitions: {...invoice.status_transitions, paid_at: account.now()},
	});
	account.emit('invoice.paid', invoice);
	account.emit('invoice.payment_succeeded', invoice);
};

/**
 * Tries to collect an open invoice.
 * @param card instead of what the customer's card does.
 * @returns whether it is paid now. What that means for the subscription is the caller's.
 */
export const collect = (account: Account, invoice: Invoice, card?: CardBehavior): boolean => {
	const behavior = card ?? account.cards.get(invoice.customer) ?? 'works';
	if (invoice.amount_due > 0) {
		invoice.attempted = true;
		invoice.attempt_count += 1;
	}

	if (invoice.amount_due > 0 && behavior !== 'works') {
		if (behavior === 'requires_action') {
			account.emit('invoice.payment_action_required', invoice);
		}

		account.emit('invoice.payment_failed', invoice);
		return false;
	}

	if (invoice.amount_due > 0) {
		charge(account, invoice);
	}

	markPaid(account, invoice);
	return true;
};

/** Ends an open invoice that nobody shall pay any more. */
export const voidInvoice = (account: Account, invoice: Invoice): void => {
	Object.assign(invoice, {
		status: 'void',
		auto_advance: false,
		next_payment_attempt: null,
		status_transitions: {...invoice.status_transitions, voided_at: account.now()},
	});
	account.emit('invoice.voided', invoice);
};

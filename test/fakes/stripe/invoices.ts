import {type Account, type CardBehavior, found, newId, nulls, type Refund} from './account.ts';
import {applyPendingUpdate} from './change-price.ts';
import type {Params} from './form.ts';
import {subscriptionOf} from './new-invoice.ts';
import {allowOnly, integerOf, mergeMetadata, requiredText, wordOf} from './params.ts';
import {collect} from './payments.ts';
import {noSuchReference, notAllowed} from './stripe-errors.ts';
import {recover} from './subscription-status.ts';

/**
 * Somebody tries to pay an open invoice: on its hosted page, or by request. A paid renewal or upgrade takes its effect.
 * @returns whether it is paid now.
 */
export const tryInvoice = (account: Account, id: string, card?: CardBehavior): boolean => {
	const invoice = found(account.invoices, 'invoice', id);
	if (invoice.status === 'paid') {
		throw notAllowed('Invoice is already paid', 'invoice_already_paid');
	}

	if (invoice.status !== 'open') {
		throw notAllowed(`This invoice can not be paid: it is ${invoice.status}`);
	}

	const isPaid = collect(account, invoice, card);
	const subscription = subscriptionOf(account, invoice);
	if (isPaid && subscription.status !== 'canceled') {
		if (subscription.latest_invoice === invoice.id) {
			applyPendingUpdate(account, subscription);
		}

		recover(account, subscription, invoice);
	}

	return isPaid;
};

/** `POST /v1/refunds`, of a payment, whole unless an amount is given. */
export const createRefund = (account: Account, params: Params): Refund => {
	allowOnly(params, ['payment_intent', 'amount', 'reason', 'metadata']);
	const paymentIntent = requiredText(params, 'payment_intent');
	const charge = account.charges.find((one) => one.paymentIntent === paymentIntent);
	if (charge === undefined) {
		throw noSuchReference('payment_intent', paymentIntent, 'payment_intent');
	}

	const left = charge.amount - charge.refunded;
	const amount = integerOf(params, 'amount') ?? left;
	if (left === 0) {
		throw notAllowed(`Charge ${charge.id} has already been refunded.`, 'charge_already_refunded');
	}

	if (amount < 1 || amount > left) {
		throw notAllowed(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`);
	}

	charge.refunded += amount;
	const refund: Refund = {
		id: newId('re'),
		object: 'refund',
		amount,
		...nulls('balance_transaction customer_account payment_method receipt_number source_transfer_reversal'),
		...nulls('transfer_reversal'),
		charge: charge.id,
		created: account.now(),
		currency: charge.currency,
		customer: charge.customer,
		metadata: mergeMetadata({}, params),
		payment_intent: charge.paymentIntent,
		reason: wordOf(params, 'reason', ['duplicate', 'fraudulent', 'requested_by_customer']),
		status: 'succeeded',
	};
	account.refunds.set(refund.id, refund);
	account.emit('refund.created', refund);
	return refund;
};

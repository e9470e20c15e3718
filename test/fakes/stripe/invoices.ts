import {type Account, type CardBehavior, type Invoice, newId, type Refund} from './account.ts';
import {applyPendingUpdate} from './change-price.ts';
import type {Params} from './form.ts';
import {subscriptionOf} from './new-invoice.ts';
import {allowOnly, integerOf, mergeMetadata, textOf, wordOf} from './params.ts';
import {collect} from './payments.ts';
import {cardDeclined, missingParam, noSuch, noSuchReference, notAllowed} from './stripe-errors.ts';
import {recover} from './subscription-status.ts';

export const readInvoice = (account: Account, id: string): Invoice => {
	const invoice = account.invoices.get(id);
	if (invoice === undefined) {
		throw noSuch('invoice', id);
	}

	return invoice;
};

/**
 * Somebody tries to pay an open invoice: on its hosted page, or by request. A paid renewal or upgrade takes its effect.
 * @returns whether it is paid now.
 */
export const tryInvoice = (account: Account, id: string, card?: CardBehavior): boolean => {
	const invoice = readInvoice(account, id);
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

/** `POST /v1/invoices/:id/pay`, with the customer's card. @throws 402 where it is declined. */
export const payInvoice = (account: Account, id: string, params: Params): Invoice => {
	allowOnly(params, ['off_session', 'payment_method']);
	if (!tryInvoice(account, id)) {
		throw cardDeclined();
	}

	return readInvoice(account, id);
};

/** `POST /v1/refunds`, of a payment or a charge, whole unless an amount is given. */
export const createRefund = (account: Account, params: Params): Refund => {
	allowOnly(params, ['payment_intent', 'charge', 'amount', 'reason', 'metadata']);
	const [paymentIntent, chargeId] = [textOf(params, 'payment_intent'), textOf(params, 'charge')];
	if (paymentIntent === null && chargeId === null) {
		throw missingParam('payment_intent');
	}

	const charge = account.charges.find((one) => one.paymentIntent === paymentIntent || one.id === chargeId);
	if (charge === undefined) {
		throw paymentIntent === null
			? noSuchReference('charge', chargeId ?? '', 'charge')
			: noSuchReference('payment_intent', paymentIntent, 'payment_intent');
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
		balance_transaction: null,
		charge: charge.id,
		created: account.now(),
		currency: charge.currency,
		customer: charge.customer,
		customer_account: null,
		metadata: mergeMetadata({}, params),
		payment_intent: charge.paymentIntent,
		payment_method: null,
		reason: wordOf(params, 'reason', ['duplicate', 'fraudulent', 'requested_by_customer']),
		receipt_number: null,
		source_transfer_reversal: null,
		status: 'succeeded',
		transfer_reversal: null,
	};
	account.refunds.set(refund.id, refund);
	account.emit('refund.created', refund);
	return refund;
};

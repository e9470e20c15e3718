import type {Merchant} from './merchant.ts';
import {notPossible} from './paymob-errors.ts';
import {readTransaction, type Transaction} from './transactions.ts';

const isPayment = ({success, is_refund, is_void}: Transaction): boolean => success && !is_refund && !is_void;

/** The transaction of giving back, beside the one that took. */
const newChild = (merchant: Merchant, parent: Transaction, changes: Partial<Transaction>): Transaction => {
	const child: Transaction = {
		...structuredClone(parent),
		id: merchant.nextId(),
		created_at: merchant.timestamp(),
		has_parent_transaction: true,
		parent_transaction: parent.id,
		is_refunded: false,
		is_voided: false,
		refunded_amount_cents: 0,
		...changes,
	};
	merchant.transactions.set(child.id, child);
	const receiver = merchant.intentions.get(parent.order.id)?.notificationUrl ?? null;
	const {refundCallbacks: on} = merchant.settings;
	for (const transaction of [...(on === 'child' ? [] : [parent]), ...(on === 'parent' ? [] : [child])]) {
		merchant.emit('TRANSACTION', transaction, receiver);
	}

	return child;
};

const giveBack = (merchant: Merchant, {id}: Transaction, amount: number): void => {
	const charge = merchant.charges.find(({transactionId}) => transactionId === id);
	if (charge !== undefined) {
		charge.refunded += amount;
	}
};

/** `POST /api/acceptance/void_refund/refund`. Partial refunds add up. */
export const refund = (merchant: Merchant, id: number, amount: number): Transaction => {
	const parent = readTransaction(merchant, id);
	const left = parent.amount_cents - parent.refunded_amount_cents;
	if (!isPayment(parent) || parent.is_voided) {
		throw notPossible('The transaction can not be refunded.');
	}

	if (amount > left) {
		throw notPossible('Full Amount has been refunded');
	}

	parent.is_refunded = true;
	parent.refunded_amount_cents += amount;
	giveBack(merchant, parent, amount);
	return newChild(merchant, parent, {is_refund: true, amount_cents: amount});
};

/** `POST /api/acceptance/void_refund/void`, on the day of the payment. */
export const voidPayment = (merchant: Merchant, id: number): Transaction => {
	const parent = readTransaction(merchant, id);
	const isSameDay = parent.created_at.slice(0, 10) === merchant.now().toISOString().slice(0, 10);
	if (!isPayment(parent) || parent.is_voided || parent.is_refunded || !isSameDay) {
		throw notPossible('The transaction can not be voided.');
	}

	parent.is_voided = true;
	giveBack(merchant, parent, parent.amount_cents);
	return newChild(merchant, parent, {is_void: true});
};

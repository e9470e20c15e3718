import {extrasOf, requireFresh} from './intentions.ts';
import {type Intention, type Merchant, randomToken, type SavedCard} from './merchant.ts';
import {notFound, notPossible} from './paymob-errors.ts';

/** What becomes of a payment. */
export type Outcome = 'works' | 'declines' | 'pending';

/** The last four digits, and the scheme. */
export type Card = {pan: string; brand: string};
export const TEST_CARD: Card = {pan: '2346', brand: 'MasterCard'};

/** The sentence and the code that go with an outcome. */
const wordsOf: Record<Outcome, {message: string; txn_response_code: string}> = {
	works: {message: 'Approved', txn_response_code: 'APPROVED'},
	declines: {message: 'Declined', txn_response_code: 'DECLINED'},
	pending: {message: 'Pending', txn_response_code: 'PENDING'},
};

const attributeOf = ({extras}: Intention, name: string): string | null => {
	const value = extras[name];
	return typeof value === 'string' ? value : null;
};

/** Writes down that money moved. */
const book = (
	merchant: Merchant,
	intention: Intention,
	{id, amount_cents: amount, integration_id}: Transaction,
): void => {
	intention.paid += amount;
	merchant.charges.push({
		transactionId: id,
		orderId: intention.orderId,
		amount,
		currency: intention.currency,
		isMoto: integration_id === merchant.integrations.moto,
		specialReference: intention.specialReference,
		organizationId: attributeOf(intention, 'orgId'),
		attemptId: attributeOf(intention, 'attemptId') ?? intention.specialReference,
		refunded: 0,
		at: merchant.now(),
	});
};

/** Changes a transaction to an outcome, and calls back. */
const conclude = (merchant: Merchant, intention: Intention, transaction: Transaction, outcome: Outcome): void => {
	if (outcome === 'works') {
		book(merchant, intention, transaction);
	}

	Object.assign(transaction, {
		success: outcome === 'works',
		pending: outcome === 'pending',
		data: wordsOf[outcome],
		txn_response_code: wordsOf[outcome].txn_response_code,
		order: {...transaction.order, paid_amount_cents: intention.paid},
	});
	merchant.emit('TRANSACTION', transaction, intention.notificationUrl);
};

type Attempt = {integration: number; card: Card; outcome: Outcome};

/** A transaction as callbacks and answers show it (contract/billing 22), before its outcome is known. */
const pendingTransaction = (
	intention: Intention,
	{integration, card}: Attempt,
	{id, createdAt, profileId, isMoto}: {id: number; createdAt: string; profileId: number; isMoto: boolean},
) => {
	const {amount: amount_cents, currency, orderId, specialReference} = intention;
	return {
		id,
		pending: true,
		amount_cents,
		success: false,
		is_auth: false,
		is_capture: false,
		is_standalone_payment: true,
		is_voided: false,
		is_refunded: false,
		is_3d_secure: !isMoto,
		integration_id: integration,
		profile_id: profileId,
		has_parent_transaction: false,
		parent_transaction: null as number | null,
		is_refund: false,
		is_void: false,
		refunded_amount_cents: 0,
		order: {
			id: orderId,
			created_at: intention.createdAt,
			merchant_order_id: specialReference,
			amount_cents,
			currency,
			paid_amount_cents: intention.paid,
			merchant: {id: profileId, company_name: 'Oplink'},
			items: intention.items,
		},
		created_at: createdAt,
		currency,
		error_occured: false,
		is_live: false,
		owner: profileId + 200_000,
		api_source: isMoto ? 'OTHER' : 'IFRAME',
		terminal_id: null,
		source_data: {pan: card.pan, type: 'card', sub_type: card.brand},
		data: wordsOf.pending,
		txn_response_code: wordsOf.pending.txn_response_code,
		payment_key_claims: {
			amount_cents,
			currency,
			order_id: orderId,
			integration_id: integration,
			next_payment_intention: intention.id,
			extra: extrasOf(intention),
		},
	};
};

export type Transaction = ReturnType<typeof pendingTransaction>;

/** One try to pay an intention. Its callback is on its way when this returns. */
export const newTransaction = (merchant: Merchant, intention: Intention, attempt: Attempt): Transaction => {
	requireFresh(merchant, intention);
	const transaction = pendingTransaction(intention, attempt, {
		id: merchant.nextId(),
		createdAt: merchant.timestamp(),
		profileId: merchant.profileId,
		isMoto: attempt.integration === merchant.integrations.moto,
	});
	merchant.transactions.set(transaction.id, transaction);
	conclude(merchant, intention, transaction, attempt.outcome);
	return transaction;
};

export const readTransaction = ({transactions}: Merchant, id: number): Transaction => {
	const transaction = transactions.get(id);
	if (transaction === undefined) {
		throw notFound();
	}

	return transaction;
};

/** What became of a payment that was at the bank. */
export const settleTransaction = (merchant: Merchant, id: number, succeeded: boolean): Transaction => {
	const transaction = readTransaction(merchant, id);
	const intention = merchant.intentions.get(transaction.order.id);
	if (!transaction.pending || intention === undefined) {
		throw notPossible(`Transaction ${id} is not pending`);
	}

	conclude(merchant, intention, transaction, succeeded ? 'works' : 'declines');
	return transaction;
};

/** The customer ticked "save card". @param token of a card that was saved before, to send its event again. */
export const saveCard = (
	merchant: Merchant,
	intention: Intention,
	card: Card,
	token = randomToken('tok_'),
): SavedCard => {
	const {email} = intention.billingData;
	const saved: SavedCard = {
		id: merchant.nextId(),
		token,
		masked_pan: `xxxx-xxxx-xxxx-${card.pan}`,
		merchant_id: merchant.profileId,
		card_subtype: card.brand,
		created_at: merchant.timestamp(),
		email: typeof email === 'string' ? email : 'NA',
		order_id: String(intention.orderId),
		user_added: false,
		next_payment_intention: intention.id,
	};
	merchant.savedCards.set(token, saved);
	merchant.emit('TOKEN', saved, intention.notificationUrl);
	return saved;
};

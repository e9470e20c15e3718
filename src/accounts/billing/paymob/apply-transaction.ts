import type {Db} from '../../../platform/db/db.ts';
import {endSubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Decision} from '../gateway-event-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {judgePayment, mismatchOf} from './judge-payment.ts';
import {createPaymentReversalStore, type ReversalStatus} from './payment-reversal-store.ts';
import type {Paymob} from './paymob.ts';
import {isPayment, isReversed, type PaymobTransaction, transactionKey} from './paymob-payloads.ts';
import {failCharge} from './renewal-schedule.ts';
import {byPaymob, settlePayment} from './settle-payment.ts';

type Outcome = Pick<Decision, 'outcome' | 'reason'>;

/** A transaction with its row and its attempt, both locked. */
type Context = {
	paymob: Paymob;
	trx: Db;
	transaction: PaymobTransaction;
	attempt: BillingAttempt;
	row: Subscription;
	now: Date;
};

const ignored = (reason: string): Outcome => ({outcome: 'IGNORED', reason});
const review = (reason: string): Outcome => ({outcome: 'REVIEW', reason});

/** The state of a refund, for the ledger. */
export const refundText = (status: ReversalStatus): string =>
	status === 'PENDING' ? 'The payment is to be refunded.' : `The payment was ${status.toLowerCase()}.`;

/** Logs the reason that a payment has no effect, and marks its attempt for review unless it has another payment. */
const reject = async (
	{paymob, trx, transaction: {id: transactionId}, attempt, now}: Context,
	finding: string,
	reason: string,
) => {
	const {organizationId, id: attemptId, status} = attempt;
	paymob.log.error({organizationId, attemptId, transactionId}, `${finding}: ${reason}`);
	if (status !== 'PAID' && status !== 'REVIEW') {
		const changes = {status: 'REVIEW', transactionId, lastError: reason} as const;
		await createAttemptStore(trx).update(organizationId, attemptId, changes, now);
	}
};

/** Records a refund. A PENDING one is carried out after the transaction, by `refund-payments.ts`. */
const recordReversal = (
	{trx, transaction, attempt, now}: Context,
	status: ReversalStatus,
	reason: string | null,
): Promise<void> => {
	const {id: transactionId, amount} = transaction;
	const {organizationId, id: attemptId} = attempt;
	const eventKey = transactionKey(transaction);
	return createPaymentReversalStore(trx).insert(
		{transactionId, organizationId, attemptId, amount, reason, eventKey, status},
		now,
	);
};

const applyPayment = async (context: Context): Promise<Outcome> => {
	const {paymob, trx, transaction, attempt, row, now} = context;
	const {cardIntegrationId, motoIntegrationId} = paymob.config;
	const reversal = await createPaymentReversalStore(trx).lock(transaction.id);
	if (reversal !== null) {
		return reversal.reason === null
			? ignored('The payment was already refunded.')
			: review(`${reversal.reason} ${refundText(reversal.status)}`);
	}

	const settled = await createAttemptStore(trx).findByTransaction('GATEWAY_B', transaction.id);
	if (settled !== null) {
		return settled.id === attempt.id
			? ignored(`This payment already made the attempt ${attempt.status}.`)
			: review(`The payment has settled the attempt ${settled.id} already.`);
	}

	const mismatch = mismatchOf(transaction, attempt, [cardIntegrationId, motoIntegrationId]);
	if (mismatch !== null) {
		await reject(context, 'a payment does not match its attempt', mismatch);
		return review(`${mismatch} Nothing is activated.`);
	}

	const judgement = judgePayment(paymob, attempt, row, now);
	if (judgement.does === 'REFUND') {
		await reject(context, 'refunding a payment', judgement.reason);
		await recordReversal(context, 'PENDING', judgement.reason);
		return review(`${judgement.reason} ${refundText('PENDING')}`);
	}

	const after = await settlePayment(trx, transaction, judgement.does, context);
	return {outcome: 'APPLIED', reason: `The subscription is ${after.status} on ${after.plan}.`};
};

/** Whether a payment opened the current period. An upgrade does not: it pays the rest of one. */
const hasOpened = ({attempt, row}: Context): boolean =>
	attempt.purpose !== 'UPGRADE' &&
	row.gateway === 'GATEWAY_B' &&
	attempt.periodStart !== null &&
	attempt.periodStart.getTime() === row.currentPeriodStart?.getTime();

/** A payment was refunded in full, by us or in Paymob's dashboard (contract/billing 23). */
const applyReversal = async (context: Context): Promise<Outcome> => {
	const {paymob, trx, transaction, attempt, row, now} = context;
	const {organizationId, id: attemptId} = attempt;
	const status = transaction.isVoided ? 'VOIDED' : 'REFUNDED';
	const reversals = createPaymentReversalStore(trx);
	const known = await reversals.lock(transaction.id);
	if (known?.status === 'PENDING') {
		await reversals.settle(transaction.id, status, now);
		return {outcome: 'APPLIED', reason: 'The payment was refunded as planned.'};
	}

	if (known !== null) {
		return ignored('The payment was already refunded.');
	}

	await recordReversal(context, status, null);
	if (attempt.transactionId !== transaction.id || attempt.status !== 'PAID') {
		return ignored('The payment was refunded before it took effect.');
	}

	if (hasOpened(context) && isLive(row)) {
		await createAttemptStore(trx).supersedeOpen(organizationId, null, now);
		await endSubscription(trx, row, {by: byPaymob, now});
		return {
			outcome: 'APPLIED',
			reason: 'The payment of the current period was refunded: the subscription is CANCELED.',
		};
	}

	if (attempt.purpose === 'UPGRADE' && isLive(row) && row.plan === attempt.plan) {
		paymob.log.error({organizationId, attemptId}, 'the payment of a plan change was refunded; the plan stays');
		return review(`The payment of the change to ${attempt.plan} was refunded; the plan stays.`);
	}

	return ignored('The payment of an earlier period was refunded.');
};

/** A declined payment. The customer may try again on Paymob's page; a charge of a saved card has failed. */
const applyDecline = async ({trx, attempt, now}: Context): Promise<Outcome> => {
	if (attempt.status !== 'OPEN') {
		return ignored(`A payment was declined; the attempt is ${attempt.status}.`);
	}

	const reason = 'The payment was declined.';
	if (attempt.chargedAt === null) {
		const {organizationId, id} = attempt;
		await createAttemptStore(trx).update(organizationId, id, {lastError: reason}, now);
	} else {
		await failCharge(trx, attempt, {reason, by: byPaymob, now});
	}

	return {outcome: 'APPLIED', reason};
};

const applyTo = (context: Context): Promise<Outcome> | Outcome => {
	const {transaction} = context;
	if (isReversed(transaction)) {
		return applyReversal(context);
	}

	if (isPayment(transaction)) {
		return applyPayment(context);
	}

	if (transaction.pending) {
		return ignored('The customer is at the bank.');
	}

	if (transaction.hasParent) {
		return ignored('It is a refund or a void; the callback of its payment covers it.');
	}

	if (transaction.isRefunded) {
		return ignored('The payment was refunded in part, which changes nothing.');
	}

	return transaction.success ? ignored('It is not a payment.') : applyDecline(context);
};

/**
 * Applies a verified or queried transaction, in the caller's database transaction. Only the order matches it to an
 * attempt (contract/billing 22); without one it is UNMATCHED, and tried again.
 */
export const applyTransaction = async (paymob: Paymob, trx: Db, transaction: PaymobTransaction): Promise<Decision> => {
	const attempts = createAttemptStore(trx);
	const found = await attempts.findByRef('GATEWAY_B', transaction.orderId);
	const row = found === null ? null : await createSubscriptionStore(trx).lockOf(found.organizationId);
	const attempt = await attempts.lockByRef('GATEWAY_B', transaction.orderId);
	if (attempt === null || row === null) {
		paymob.log.warn({orderId: transaction.orderId}, 'a transaction of Paymob has no attempt');
		return {outcome: 'UNMATCHED', reason: `No attempt has the order ${transaction.orderId}.`};
	}

	const context = {paymob, trx, transaction, attempt, row, now: paymob.clock.now()};
	return {...(await applyTo(context)), organizationId: attempt.organizationId, attemptId: attempt.id};
};

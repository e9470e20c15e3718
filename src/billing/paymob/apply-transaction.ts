import type {Db} from '../../db/db.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {endSubscription, failCharge} from './fail-renewal.ts';
import {judgePayment, mismatchOf} from './judge-payment.ts';
import {createPaymentReversalStore, type ReversalStatus} from './payment-reversal-store.ts';
import type {Paymob} from './paymob.ts';
import {isPayment, isReversed, type PaymobTransaction, transactionKey} from './paymob-payloads.ts';
import {gatewayB, settlePayment} from './settle-payment.ts';

type Outcome = Pick<Verdict, 'outcome' | 'reason'>;

/** What a transaction is about, its row and its attempt locked. */
type Place = {paymob: Paymob; trx: Db; attempt: BillingAttempt; row: Subscription; now: Date};

const ignored = (reason: string): Outcome => ({outcome: 'IGNORED', reason});

/** What becomes, or became, of a payment that is not kept, as the ledger says it. */
export const givenBack = (status: ReversalStatus): string =>
	status === 'PENDING' ? 'The payment is to be refunded.' : `The payment was ${status.toLowerCase()}.`;

/** Notes that money is to be given back; that is done outside of the transaction, by `give-back.ts`. */
const putAside = async (
	{paymob, trx, attempt, now}: Place,
	transaction: PaymobTransaction,
	reason: string,
): Promise<Outcome> => {
	const {organizationId, id: attemptId, status} = attempt;
	paymob.log.error({organizationId, attemptId, transactionId: transaction.id}, `refunding a payment: ${reason}`);
	if (status !== 'PAID' && status !== 'REVIEW') {
		const changes = {status: 'REVIEW', transactionId: transaction.id, lastError: reason} as const;
		await createAttemptStore(trx).update(organizationId, attemptId, changes, now);
	}

	await createPaymentReversalStore(trx).insert(
		{
			transactionId: transaction.id,
			organizationId,
			attemptId,
			amount: transaction.amount,
			reason,
			eventKey: transactionKey(transaction),
			status: 'PENDING',
		},
		now,
	);
	return {outcome: 'REVIEW', reason: `${reason} ${givenBack('PENDING')}`};
};

const applyPayment = async (place: Place, transaction: PaymobTransaction): Promise<Outcome> => {
	const {paymob, trx, attempt, row, now} = place;
	const {cardIntegrationId, motoIntegrationId} = paymob.config;
	const attempts = createAttemptStore(trx);
	const reversal = await createPaymentReversalStore(trx).lock(transaction.id);
	if (reversal !== null) {
		return reversal.reason === null
			? ignored('The payment was already refunded.')
			: {outcome: 'REVIEW', reason: `${reversal.reason} ${givenBack(reversal.status)}`};
	}

	const settled = await attempts.findByTransaction('GATEWAY_B', transaction.id);
	if (settled !== null) {
		return settled.id === attempt.id
			? ignored(`This payment already made the attempt ${attempt.status}.`)
			: {outcome: 'REVIEW', reason: `The payment has settled the attempt ${settled.id} already.`};
	}

	const mismatch = mismatchOf(transaction, attempt, [cardIntegrationId, motoIntegrationId]);
	if (mismatch !== null) {
		const {organizationId, id: attemptId, status} = attempt;
		paymob.log.error(
			{organizationId, attemptId, transactionId: transaction.id},
			`a payment does not match its attempt: ${mismatch}`,
		);
		if (status !== 'PAID' && status !== 'REVIEW') {
			const changes = {status: 'REVIEW', transactionId: transaction.id, lastError: mismatch} as const;
			await attempts.update(organizationId, attemptId, changes, now);
		}

		return {outcome: 'REVIEW', reason: `${mismatch} Nothing is activated.`};
	}

	const judgement = judgePayment(paymob, attempt, row, now);
	if (judgement.does === 'GIVE_BACK') {
		return putAside(place, transaction, judgement.reason);
	}

	const after = await settlePayment(trx, transaction, judgement.does, place);
	return {outcome: 'APPLIED', reason: `The subscription is ${after.status} on ${after.plan}.`};
};

/** Whether a payment opened the period that runs: an upgrade pays the rest of one that was open. */
const hasOpened = ({attempt, row}: Place): boolean =>
	attempt.purpose !== 'UPGRADE' &&
	row.gateway === 'GATEWAY_B' &&
	attempt.periodStart !== null &&
	attempt.periodStart.getTime() === row.currentPeriodStart?.getTime();

/** A payment was given back as a whole, by us or in the gateway's dashboard (contract/paymob 5). */
const applyReversal = async (place: Place, transaction: PaymobTransaction): Promise<Outcome> => {
	const {paymob, trx, attempt, row, now} = place;
	const status = transaction.isVoided ? 'VOIDED' : 'REFUNDED';
	const reversals = createPaymentReversalStore(trx);
	const known = await reversals.lock(transaction.id);
	if (known !== null) {
		if (known.status === 'PENDING') {
			await reversals.settle(transaction.id, status, now);
		}

		return known.status === 'PENDING'
			? {outcome: 'APPLIED', reason: 'The payment was refunded as planned.'}
			: ignored('The payment was already refunded.');
	}

	const {organizationId, id: attemptId} = attempt;
	await reversals.insert(
		{
			transactionId: transaction.id,
			organizationId,
			attemptId,
			amount: transaction.amount,
			reason: null,
			eventKey: transactionKey(transaction),
			status,
		},
		now,
	);
	if (attempt.transactionId !== transaction.id || attempt.status !== 'PAID') {
		return ignored('The payment was refunded before it took effect.');
	}

	if (hasOpened(place) && isLive(row)) {
		await createAttemptStore(trx).supersedeOpen(organizationId, null, now);
		await endSubscription(trx, row, {by: gatewayB, now});
		return {
			outcome: 'APPLIED',
			reason: 'The payment of the current period was refunded: the subscription is CANCELED.',
		};
	}

	if (attempt.purpose === 'UPGRADE' && isLive(row) && row.plan === attempt.plan) {
		paymob.log.error({organizationId, attemptId}, 'the payment of a plan change was refunded; the plan stays');
		return {outcome: 'REVIEW', reason: `The payment of the change to ${attempt.plan} was refunded; the plan stays.`};
	}

	return ignored('The payment of an earlier period was refunded.');
};

/** A try was refused. The customer may try again on the gateway's page; a charge of a saved card is over. */
const applyDecline = async ({trx, attempt, now}: Place): Promise<Outcome> => {
	if (attempt.status !== 'OPEN') {
		return ignored(`A try was declined; the attempt is ${attempt.status}.`);
	}

	const reason = 'The payment was declined.';
	if (attempt.chargedAt === null) {
		const {organizationId, id} = attempt;
		await createAttemptStore(trx).update(organizationId, id, {lastError: reason}, now);
	} else {
		await failCharge(trx, attempt, {reason, by: gatewayB, now});
	}

	return {outcome: 'APPLIED', reason};
};

const applyTo = (place: Place, transaction: PaymobTransaction): Promise<Outcome> | Outcome => {
	if (isReversed(transaction)) {
		return applyReversal(place, transaction);
	}

	if (isPayment(transaction)) {
		return applyPayment(place, transaction);
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

	return transaction.success ? ignored('It is not a payment.') : applyDecline(place);
};

/**
 * Applies a verified transaction, or one that the gateway was asked for, in the caller's transaction. It is matched by
 * its order alone (contract/paymob 4); one that matches nothing yet is UNMATCHED and looked at again.
 */
export const applyTransaction = async (paymob: Paymob, trx: Db, transaction: PaymobTransaction): Promise<Verdict> => {
	const attempts = createAttemptStore(trx);
	const found = await attempts.findByRef('GATEWAY_B', transaction.orderId);
	const row = found === null ? null : await createSubscriptionStore(trx).lockOf(found.organizationId);
	const attempt = await attempts.lockByRef('GATEWAY_B', transaction.orderId);
	if (attempt === null || row === null) {
		paymob.log.warn({orderId: transaction.orderId}, 'a transaction of gateway B has no attempt');
		return {outcome: 'UNMATCHED', reason: `No attempt has the order ${transaction.orderId}.`};
	}

	const place = {paymob, trx, attempt, row, now: paymob.clock.now()};
	return {...(await applyTo(place, transaction)), organizationId: attempt.organizationId, attemptId: attempt.id};
};

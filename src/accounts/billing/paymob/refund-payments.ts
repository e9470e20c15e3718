import {MINUTE_MS} from '../../../platform/clock.ts';
import {inTransaction} from '../../../platform/db/db.ts';
import {inSharedTurns} from '../../../platform/db/feed/shared-turns.ts';
import {recordAudit} from '../../audit/audit-log.ts';
import {attemptEntry, createAttemptStore} from '../attempt-store.ts';
import {createGatewayEventStore} from '../gateway-event-store.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {refundText} from './apply-transaction.ts';
import {createPaymentReversalStore, type PaymentReversal, type ReversalStatus} from './payment-reversal-store.ts';
import type {Paymob} from './paymob.ts';
import {isReversed, readTransaction} from './paymob-payloads.ts';
import {byPaymob} from './settle-payment.ts';

const BATCH = 50;
const MAX_WAIT_MINUTES = 360;

/** The result of an earlier refund whose answer was lost; null if there was none, or its result is unknown. */
const findEarlier = async ({client}: Paymob, transactionId: string): Promise<ReversalStatus | null> => {
	const now = readTransaction(await client.transaction(transactionId).catch(() => null));
	if (now === null || !isReversed(now)) {
		return null;
	}

	return now.isVoided ? 'VOIDED' : 'REFUNDED';
};

/**
 * Voids on the day of the payment, else refunds (contract/billing 9). Paymob refunds no more than was paid, so a
 * repetition is safe. @returns null if it refuses both. @throws 502.
 */
const undo = async ({client}: Paymob, {transactionId, amount}: PaymentReversal): Promise<ReversalStatus | null> => {
	if (await client.void(transactionId)) {
		return 'VOIDED';
	}

	return (await client.refund(transactionId, amount)) ? 'REFUNDED' : null;
};

const recordRefund = ({db, clock}: Paymob, reversal: PaymentReversal, status: ReversalStatus): Promise<void> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const {transactionId, organizationId, attemptId, eventKey, amount, reason} = reversal;
		const reversals = createPaymentReversalStore(trx);
		const note = `${reason ?? ''} ${refundText(status)}`.trim();
		// The order of locks as in a callback: the event, the organization, its rows.
		await createGatewayEventStore(trx).amend('GATEWAY_B', eventKey, note);
		if (organizationId !== null) {
			await createSubscriptionStore(trx).lockOf(organizationId);
		}

		// Paymob's callback may have come first.
		if ((await reversals.lock(transactionId))?.status === 'PENDING') {
			await reversals.settle(transactionId, status, now);
		}

		if (organizationId !== null && attemptId !== null) {
			const attempts = createAttemptStore(trx);
			const attempt = await attempts.find(organizationId, attemptId);
			if (attempt?.transactionId === transactionId) {
				await attempts.update(organizationId, attemptId, {lastError: note}, now);
			}
		}

		const attempt = {id: attemptId, organizationId};
		await recordAudit(trx, now, byPaymob, attemptEntry('REFUND', attempt, {transactionId, amount, status}));
	});

const refund = async (paymob: Paymob, {transactionId, tries: before}: PaymentReversal): Promise<void> => {
	const {db, clock, log} = paymob;
	const now = clock.now();
	const minutes = Math.min(2 ** before, MAX_WAIT_MINUTES);
	const nextTryAt = new Date(now.getTime() + minutes * MINUTE_MS);
	const claimed = await createPaymentReversalStore(db).claim(transactionId, now, nextTryAt);
	if (claimed === null) {
		return;
	}

	const earlier = before === 0 ? null : await findEarlier(paymob, transactionId);
	const status = earlier ?? (await undo(paymob, claimed));
	if (status === null) {
		log.error({transactionId, organizationId: claimed.organizationId}, 'Paymob refused a refund');
		return;
	}

	await recordRefund(paymob, claimed, status);
};

const makeDueRefunds = async (paymob: Paymob, isStopping: () => boolean): Promise<void> => {
	const {db, clock, log} = paymob;
	const due = await createPaymentReversalStore(db).listDue(clock.now(), BATCH);
	for (const reversal of due) {
		if (isStopping()) {
			return;
		}

		try {
			await refund(paymob, reversal);
		} catch (error) {
			log.error({err: error, transactionId: reversal.transactionId}, 'a payment could not be refunded');
		}
	}
};

type Turn = {take: () => Promise<void>; isStopping: () => boolean};
const turns = new WeakMap<Paymob, Turn>();

/**
 * Makes the refunds that are due. A failure is retried later. One run at a time in a process: two would share the
 * refunds, and each would end before those of the other are made.
 */
export const refundPayments = (paymob: Paymob, isStopping?: () => boolean): Promise<void> => {
	const turn: Turn = turns.get(paymob) ?? {
		take: inSharedTurns(() => makeDueRefunds(paymob, () => turn.isStopping())),
		isStopping: () => false,
	};
	turn.isStopping = isStopping ?? turn.isStopping;
	turns.set(paymob, turn);
	return turn.take();
};

import {recordAudit} from '../../audit/audit-log.ts';
import {inTransaction} from '../../db/db.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {createGatewayEventStore} from '../gateway-event-store.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {givenBack} from './apply-transaction.ts';
import {createPaymentReversalStore, type PaymentReversal, type ReversalStatus} from './payment-reversal-store.ts';
import type {Paymob} from './paymob.ts';
import {isReversed, readTransaction} from './paymob-payloads.ts';
import {gatewayB} from './settle-payment.ts';

const BATCH = 50;
const MINUTE_MS = 60_000;
const LONGEST_WAIT_MINUTES = 360;

/** What an earlier try may have done without our hearing of it; null: nothing, or nobody can tell. */
const alreadyDone = async ({client}: Paymob, transactionId: string): Promise<ReversalStatus | null> => {
	const now = readTransaction(await client.transaction(transactionId).catch(() => null));
	if (now === null || !isReversed(now)) {
		return null;
	}

	return now.isVoided ? 'VOIDED' : 'REFUNDED';
};

/**
 * Void on the day of the payment, else refund (contract/billing 9). The gateway gives back no more than was paid,
 * so that a repetition doubles nothing. @returns null where it refuses both. @throws 502.
 */
const undo = async ({client}: Paymob, {transactionId, amount}: PaymentReversal): Promise<ReversalStatus | null> => {
	if (await client.void(transactionId)) {
		return 'VOIDED';
	}

	return (await client.refund(transactionId, amount)) ? 'REFUNDED' : null;
};

const noteDone = ({db, clock}: Paymob, reversal: PaymentReversal, status: ReversalStatus): Promise<void> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const {transactionId, organizationId, attemptId, eventKey, amount, reason} = reversal;
		const reversals = createPaymentReversalStore(trx);
		const note = `${reason ?? ''} ${givenBack(status)}`.trim();
		// In the order in which a callback locks: its event, the organization, what belongs to it.
		await createGatewayEventStore(trx).amend('GATEWAY_B', eventKey, note);
		if (organizationId !== null) {
			await createSubscriptionStore(trx).lockOf(organizationId);
		}

		// The gateway's own word of it may have come first.
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

		await recordAudit(trx, now, gatewayB, {
			action: 'GIVE_BACK',
			entityType: 'BillingAttempt',
			entityId: attemptId,
			organizationId,
			details: {transactionId, amount, status},
		});
	});

const giveBack = async (paymob: Paymob, {transactionId, tries: before}: PaymentReversal): Promise<void> => {
	const {db, clock, log} = paymob;
	const now = clock.now();
	const minutes = Math.min(2 ** before, LONGEST_WAIT_MINUTES);
	const nextTryAt = new Date(now.getTime() + minutes * MINUTE_MS);
	const claimed = await createPaymentReversalStore(db).claim(transactionId, now, nextTryAt);
	if (claimed === null) {
		return;
	}

	const earlier = before === 0 ? null : await alreadyDone(paymob, transactionId);
	const status = earlier ?? (await undo(paymob, claimed));
	if (status === null) {
		log.error({transactionId, organizationId: claimed.organizationId}, 'gateway B refused a refund');
		return;
	}

	await noteDone(paymob, claimed, status);
};

/** Gives back every payment that is not to be kept and whose time has come. One that fails is tried again later. */
export const giveBackPayments = async (paymob: Paymob, isStopping = () => false): Promise<void> => {
	const {db, clock, log} = paymob;
	const due = await createPaymentReversalStore(db).listDue(clock.now(), BATCH);
	for (const reversal of due) {
		if (isStopping()) {
			return;
		}

		try {
			await giveBack(paymob, reversal);
		} catch (error) {
			log.error({err: error, transactionId: reversal.transactionId}, 'a payment could not be refunded');
		}
	}
};

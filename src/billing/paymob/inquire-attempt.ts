import {inTransaction} from '../../db/db.ts';
import {workUnderWay} from '../../errors.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import {createChargeStore} from './charge-store.ts';
import {failCharge} from './fail-renewal.ts';
import type {Paymob} from './paymob.ts';
import {readTransaction} from './paymob-payloads.ts';
import {receiveAnswer} from './receive-callback.ts';
import {FIRST_CHECKOUT} from './renewal-schedule.ts';
import {gatewayB} from './settle-payment.ts';

const MINUTE_MS = 60_000;
/** How long a callback is waited for before the gateway is asked (contract/billing 10). */
export const PATIENCE_MINUTES = 15;
/** How long a checkout can be paid, as the gateway is told. */
export const CHECKOUT_MINUTES = 60;

const isOlderThan = (date: Date, minutes: number, now: Date): boolean =>
	now.getTime() - date.getTime() >= minutes * MINUTE_MS;

/** Cards that were saved with a payment whose callbacks did not come. Without them only the next renewal is harder. */
const receiveCards = async (paymob: Paymob, orderId: string): Promise<void> => {
	try {
		for (const card of await paymob.client.cardsOfOrder(orderId)) {
			await receiveAnswer(paymob, 'TOKEN', card);
		}
	} catch (error) {
		paymob.log.warn({err: error, orderId}, 'could not request the saved cards of an order');
	}
};

const isTry = ({purpose, retry}: BillingAttempt): boolean => purpose === 'RENEWAL' && retry < FIRST_CHECKOUT;

/** What is left of an attempt of which the gateway knows no transaction. */
const closeUnpaid = async (paymob: Paymob, attempt: BillingAttempt): Promise<void> => {
	const {db, clock} = paymob;
	const now = clock.now();
	const attempts = createAttemptStore(db);
	if (attempt.chargedAt !== null) {
		if (isOlderThan(attempt.chargedAt, PATIENCE_MINUTES, now)) {
			const reason = 'The gateway has no charge.';
			await inTransaction(db, (trx) => failCharge(trx, attempt, {reason, by: gatewayB, now}));
		}
	} else if (isTry(attempt)) {
		// The renewals go on with it: no card was charged for it yet.
		return;
	} else if (attempt.gatewayRef === null) {
		// Nobody was ever shown its checkout, because the address is given out after the order was stored.
		await attempts.closeUncharged(attempt, {status: 'FAILED', lastError: 'The checkout was not opened'}, now);
	} else if (isOlderThan(attempt.createdAt, CHECKOUT_MINUTES, now)) {
		await attempts.closeUncharged(attempt, {status: 'EXPIRED', lastError: 'The checkout was not paid in time'}, now);
	}
};

/**
 * Asks the gateway what became of an attempt and applies what it says by the code of the callbacks. One that it knows
 * nothing of is closed when it cannot be paid any more. @throws 502, which leaves everything as it is.
 */
export const inquireAttempt = async (paymob: Paymob, attempt: BillingAttempt): Promise<void> => {
	const {db, clock, client} = paymob;
	const {organizationId, id, gatewayRef} = attempt;
	const attempts = createAttemptStore(db);
	const transaction = gatewayRef === null ? null : await client.latestOfOrder(gatewayRef);
	// It was looked at: the next time comes after as long again.
	await createChargeStore(db).noteAsked(attempt, clock.now());
	if (transaction !== null && gatewayRef !== null) {
		await receiveAnswer(paymob, 'TRANSACTION', transaction);
		await receiveCards(paymob, gatewayRef);
	}

	const after = await attempts.find(organizationId, id);
	const mayBePending = readTransaction(transaction)?.pending === true && after?.chargedAt != null;
	if (after?.status === 'OPEN' && !mayBePending) {
		await closeUnpaid(paymob, after);
	} else if (after?.status === 'SUPERSEDED' && after.chargedAt !== null && !mayBePending) {
		// It was answered for, and took nothing: nobody has to ask again.
		await attempts.update(
			organizationId,
			id,
			{status: 'FAILED', lastError: 'The charge did not collect any money.'},
			clock.now(),
		);
	}
};

/**
 * Finds out what became of charges that nobody has answered for, so that no card is charged on top of them.
 * @throws 409 while one can still go either way, 502 where the gateway cannot tell.
 */
export const settleCharges = async (paymob: Paymob, organizationId: string): Promise<void> => {
	const charges = createChargeStore(paymob.db);
	for (const attempt of await charges.listUnanswered(organizationId)) {
		await inquireAttempt(paymob, attempt);
	}

	if ((await charges.listUnanswered(organizationId)).length > 0) {
		throw workUnderWay();
	}
};

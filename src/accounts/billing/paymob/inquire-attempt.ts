import {MINUTE_MS} from '../../../platform/clock.ts';
import {inTransaction} from '../../../platform/db/db.ts';
import {workUnderWay} from '../../../platform/errors.ts';
import {type BillingAttempt, createAttemptStore, FIRST_CHECKOUT_NUMBER} from '../attempt-store.ts';
import type {BillingRun} from '../gateway.ts';
import {perOrganization} from '../jobs/end-periods.ts';
import type {Paymob} from './paymob.ts';
import {readTransaction} from './paymob-payloads.ts';
import {receiveAnswer} from './receive-callback.ts';
import {failCharge} from './renewal-schedule.ts';
import {byPaymob} from './settle-payment.ts';

/** The wait for a callback before Paymob is asked (contract/billing 10). */
const CALLBACK_MINUTES = 15;
/** The maximum of inquiries of one run. */
const BATCH = 100;
/** The time in which a checkout can be paid. */
export const CHECKOUT_MINUTES = 60;

const isOlderThan = (date: Date, minutes: number, now: Date): boolean =>
	now.getTime() - date.getTime() >= minutes * MINUTE_MS;

/** Receives saved cards whose callbacks did not come. A failure only affects the next renewal. */
const receiveCards = async (paymob: Paymob, orderId: string): Promise<void> => {
	try {
		for (const card of await paymob.client.cardsOfOrder(orderId)) {
			await receiveAnswer(paymob, 'TOKEN', card);
		}
	} catch (error) {
		paymob.log.warn({err: error, orderId}, 'could not request the saved cards of an order');
	}
};

const isRenewalCharge = ({purpose, retry}: BillingAttempt): boolean =>
	purpose === 'RENEWAL' && retry < FIRST_CHECKOUT_NUMBER;

/** Closes an attempt for which Paymob has no transaction, once it cannot be paid any more. */
const closeUnpaid = async (paymob: Paymob, attempt: BillingAttempt): Promise<void> => {
	const {db, clock} = paymob;
	const now = clock.now();
	const attempts = createAttemptStore(db);
	if (attempt.chargedAt !== null) {
		if (isOlderThan(attempt.chargedAt, CALLBACK_MINUTES, now)) {
			const reason = 'The gateway has no charge.';
			await inTransaction(db, (trx) => failCharge(trx, attempt, {reason, by: byPaymob, now}));
		}
	} else if (isRenewalCharge(attempt)) {
		// No card was charged yet: the renewal job continues it.
		return;
	} else if (attempt.gatewayRef === null) {
		// Nobody has seen its checkout: the URL is returned after the order is stored.
		await attempts.closeUncharged(attempt, {status: 'FAILED', lastError: 'The checkout was not opened'}, now);
	} else if (isOlderThan(attempt.createdAt, CHECKOUT_MINUTES, now)) {
		await attempts.closeUncharged(attempt, {status: 'EXPIRED', lastError: 'The checkout was not paid in time'}, now);
	}
};

/** Asks Paymob for the outcome of an attempt and applies it like a callback. @throws 502; nothing has changed then. */
const inquireAttempt = async (paymob: Paymob, attempt: BillingAttempt): Promise<void> => {
	const {db, clock, client} = paymob;
	const {organizationId, id, gatewayRef} = attempt;
	const attempts = createAttemptStore(db);
	const transaction = gatewayRef === null ? null : await client.latestOfOrder(gatewayRef);
	await attempts.recordInquiry(attempt, clock.now());
	if (transaction !== null && gatewayRef !== null) {
		await receiveAnswer(paymob, 'TRANSACTION', transaction);
		await receiveCards(paymob, gatewayRef);
	}

	const after = await attempts.find(organizationId, id);
	const mayBePending = readTransaction(transaction)?.pending === true && after?.chargedAt != null;
	if (after?.status === 'OPEN' && !mayBePending) {
		await closeUnpaid(paymob, after);
	} else if (after?.status === 'SUPERSEDED' && after.chargedAt !== null && !mayBePending) {
		// The charge has an outcome, and took nothing: no further inquiry is needed.
		const changes = {status: 'FAILED', lastError: 'The charge did not collect any money.'} as const;
		await attempts.update(organizationId, id, changes, clock.now());
	}
};

/**
 * Settles charges without an outcome: no card may be charged twice.
 * @throws 409 while an outcome is unknown, 502 if Paymob cannot be asked.
 */
export const settleCharges = async (paymob: Paymob, organizationId: string): Promise<void> => {
	const attempts = createAttemptStore(paymob.db);
	for (const attempt of await attempts.listUnanswered(organizationId)) {
		await inquireAttempt(paymob, attempt);
	}

	if ((await attempts.listUnanswered(organizationId)).length > 0) {
		throw workUnderWay();
	}
};

/**
 * Asks Paymob about attempts without a callback for 15 minutes, because it may not repeat a failed one (contract/billing
 * 25). Superseded attempts included: they could be paid until they expired.
 */
export const inquireAttempts = async (paymob: Paymob, run: BillingRun): Promise<void> => {
	const before = new Date(paymob.clock.now().getTime() - CALLBACK_MINUTES * MINUTE_MS);
	const lifeMinutes = CHECKOUT_MINUTES + CALLBACK_MINUTES;
	for (const attempt of await createAttemptStore(paymob.db).listUnreported({before, lifeMinutes}, BATCH)) {
		await perOrganization(run, 'inquire about an attempt', [attempt.organizationId], () =>
			inquireAttempt(paymob, attempt),
		);
	}
};

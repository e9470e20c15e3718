import {DAY_MS} from '../../../platform/clock.ts';
import type {Db} from '../../../platform/db/db.ts';
import type {Caller} from '../../audit/audit-log.ts';
import {applySubscription, endSubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore, FIRST_CHECKOUT_NUMBER} from '../attempt-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore, stateOf} from '../subscription-store.ts';

/**
 * Days after the row became PAST_DUE on which a renewal is retried (contract/billing 10). Number 0 is the first charge, at the period's end.
 */
const RETRY_DAYS = [1, 3, 5, 7] as const;

const LAST_RETRY = RETRY_DAYS.length;

export const isLastRetry = (retry: number): boolean => retry >= LAST_RETRY && retry < FIRST_CHECKOUT_NUMBER;

/** The time at which retry `number` is due: the first at the period's end, the others counted from the first failure. */
const dueAt = (number: number, {currentPeriodEnd: end, pastDueAt}: Subscription): number =>
	((number === 0 ? end : (pastDueAt ?? end))?.getTime() ?? Number.POSITIVE_INFINITY) +
	(RETRY_DAYS[number - 1] ?? 0) * DAY_MS;

type NextStep =
	| {does: 'CHARGE'; number: number}
	/** The gateway is asked for the outcome of an open attempt. */
	| {does: 'ASK'; attempt: BillingAttempt}
	| {does: 'WAIT'}
	| {does: 'END'};

/**
 * The next step of a renewal whose period is over. Only the latest retry that is due is made: a service that was
 * down charges once and not four times. @param attempts all of the period, the customer's checkouts included.
 */
export const nextStep = (row: Subscription, attempts: readonly BillingAttempt[], now: Date): NextStep => {
	const charges = attempts.filter(({retry}) => retry < FIRST_CHECKOUT_NUMBER);
	// An upgrade after the period's end also charges the saved card, and is numbered like a checkout.
	const open = attempts.find(
		({status, retry, chargedAt}) => status === 'OPEN' && (retry < FIRST_CHECKOUT_NUMBER || chargedAt !== null),
	);
	if (open !== undefined) {
		return {does: 'ASK', attempt: open};
	}

	const isDue = (number: number) => dueAt(number, row) <= now.getTime();
	if (charges.some(({status}) => status === 'REVIEW')) {
		// A payment waits for review. Nothing is charged in addition; the subscription ends with the last retry's date.
		return isDue(LAST_RETRY) ? {does: 'END'} : {does: 'WAIT'};
	}

	const last = charges.at(-1)?.retry;
	if (last === undefined) {
		return isDue(0) ? {does: 'CHARGE', number: 0} : {does: 'WAIT'};
	}

	const left = Array.from({length: LAST_RETRY - last}, (_, index) => last + 1 + index);
	const number = left.filter(isDue).at(-1);
	if (number === undefined) {
		return left.length === 0 ? {does: 'END'} : {does: 'WAIT'};
	}

	return {does: 'CHARGE', number};
};

/**
 * Closes an open attempt that failed, in the caller's transaction. A renewal's row becomes PAST_DUE, and CANCELED with the
 * last retry (contract/billing 10).
 */
export const failCharge = async (
	trx: Db,
	attempt: BillingAttempt,
	{reason, by, now}: {reason: string; by: Caller; now: Date},
): Promise<void> => {
	const {organizationId, id, purpose, retry, periodStart} = attempt;
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	const attempts = createAttemptStore(trx);
	// The gateway's event may have come in the meantime.
	if ((await attempts.lockById('GATEWAY_B', id))?.status !== 'OPEN') {
		return;
	}

	await attempts.update(organizationId, id, {status: 'FAILED', lastError: reason}, now);
	const isOfThisPeriod = row?.currentPeriodEnd?.getTime() === periodStart?.getTime();
	if (purpose !== 'RENEWAL' || row === null || row.gateway !== 'GATEWAY_B' || !isLive(row) || !isOfThisPeriod) {
		return;
	}

	if (isLastRetry(retry)) {
		await endSubscription(trx, row, {by, now});
		return;
	}

	if (row.status === 'ACTIVE') {
		await applySubscription(trx, {
			organizationId,
			state: {...stateOf(row), status: 'PAST_DUE', pastDueAt: now},
			by,
			now,
			action: 'PAST_DUE',
		});
	}
};

import {storedPrice} from '../../../platform/config/plans.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import {graceEnd, isLive, type Subscription} from '../subscription.ts';
import type {Paymob} from './paymob.ts';
import type {PaymobTransaction} from './paymob-payloads.ts';

/** The effect of a payment: it begins a subscription, pays its next period, changes its plan, or is refunded. */
export type PaymentEffect = {does: 'ACTIVATE' | 'RENEW' | 'UPGRADE'} | {does: 'REFUND'; reason: string};

const refund = (reason: string): PaymentEffect => ({does: 'REFUND', reason});

const isSame = (one: Date | null, other: Date | null): boolean =>
	one !== null && other !== null && one.getTime() === other.getTime();

/**
 * The first payment of a checkout. Without a live subscription each one is honored, with the plan of its attempt. A plan
 * that ops set is replaced by a later checkout alone; earlier ones were superseded, or had expired here.
 */
const judgeFirst = ({status, createdAt}: BillingAttempt, row: Subscription): PaymentEffect => {
	const isLater = status !== 'SUPERSEDED' && createdAt >= (row.currentPeriodStart ?? row.createdAt);
	const replaces = !isLive(row) || (row.gateway === 'MANUAL' && isLater);
	return replaces ? {does: 'ACTIVATE'} : refund('The organization already has a subscription.');
};

/** An upgrade counts only while its period runs, because it paid the rest of that period. */
const judgeUpgrade = (
	{plans}: Pick<Paymob, 'plans'>,
	attempt: BillingAttempt,
	row: Subscription,
	now: Date,
): PaymentEffect => {
	const {currentPeriodEnd: end} = row;
	if (attempt.status === 'SUPERSEDED') {
		return refund('A later plan change replaced it.');
	}

	if (!isLive(row) || !isSame(attempt.periodEnd, end) || end === null || now >= end) {
		return refund('The period it pays for is over.');
	}

	return storedPrice(plans, attempt.plan, 'EGP') > storedPrice(plans, row.plan, 'EGP')
		? {does: 'UPGRADE'}
		: refund(`The subscription is already on ${row.plan}.`);
};

/** The period that follows the one of the row. */
const judgeRenewal = (attempt: BillingAttempt, row: Subscription, now: Date): PaymentEffect => {
	if (!isSame(attempt.periodStart, row.currentPeriodEnd)) {
		return refund('Its period is already paid.');
	}

	// Late, after the end: the subscription comes back within the grace only, and not if the attempt was superseded, or
	// ops ended it.
	const {currentPeriodEnd: end, anchorAt} = row;
	const isInGrace = end !== null && now < graceEnd(end);
	const mayReturn = row.status === 'CANCELED' && anchorAt !== null && attempt.status !== 'SUPERSEDED' && isInGrace;
	return isLive(row) || mayReturn ? {does: 'RENEW'} : refund('The subscription has ended.');
};

/** The effect of a payment of the right amount (contract/billing 9). */
export const judgePayment = (
	prices: Pick<Paymob, 'plans'>,
	attempt: BillingAttempt,
	row: Subscription,
	now: Date,
): PaymentEffect => {
	if (attempt.status === 'PAID' || attempt.status === 'REVIEW') {
		return refund('It is a duplicate payment.');
	}

	if (attempt.purpose === 'FIRST') {
		return judgeFirst(attempt, row);
	}

	if (row.gateway !== 'GATEWAY_B') {
		return refund('The organization no longer pays through this gateway.');
	}

	return attempt.purpose === 'UPGRADE' ? judgeUpgrade(prices, attempt, row, now) : judgeRenewal(attempt, row, now);
};

/** The difference of a payment from its attempt; null without one. */
export const mismatchOf = (
	{amount, currency, integrationId}: PaymobTransaction,
	attempt: Pick<BillingAttempt, 'amount' | 'currency'>,
	integrationIds: ReadonlyArray<string | null>,
): string | null => {
	if (amount !== attempt.amount || currency !== attempt.currency) {
		return `${amount} ${currency} was paid instead of ${attempt.amount} ${attempt.currency}.`;
	}

	return integrationIds.includes(integrationId) ? null : `It was paid through the integration ${integrationId}.`;
};

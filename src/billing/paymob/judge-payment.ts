import type {BillingAttempt} from '../attempt-store.ts';
import {graceEnd, isLive, type Subscription} from '../subscription.ts';
import type {PaymobTransaction} from './paymob-payloads.ts';

/** What a payment does: it begins a subscription, pays its next period, changes its plan, or is given back. */
export type Judgement = {does: 'ACTIVATE' | 'RENEW' | 'UPGRADE'} | {does: 'GIVE_BACK'; reason: string};

const giveBack = (reason: string): Judgement => ({does: 'GIVE_BACK', reason});

const isSame = (one: Date | null, other: Date | null): boolean =>
	one !== null && other !== null && one.getTime() === other.getTime();

/**
 * The first payment of a checkout. Without a live subscription every one is honored, with the plan of its own attempt.
 * What ops set is replaced by what was asked for after it, which superseded what was asked for before.
 */
const judgeFirst = ({status}: BillingAttempt, row: Subscription): Judgement => {
	const replaces = !isLive(row) || (row.gateway === 'MANUAL' && status !== 'SUPERSEDED');
	return replaces ? {does: 'ACTIVATE'} : giveBack('The organization already has a subscription.');
};

/** The rest of the running period on a dearer plan: only while that period runs, because only its rest was paid. */
const judgeUpgrade = ({plans}: Prices, attempt: BillingAttempt, row: Subscription, now: Date): Judgement => {
	const {currentPeriodEnd: end} = row;
	if (attempt.status === 'SUPERSEDED') {
		return giveBack('A later plan change replaced it.');
	}

	if (!isLive(row) || !isSame(attempt.periodEnd, end) || end === null || now >= end) {
		return giveBack('The period it pays for is over.');
	}

	return (plans[attempt.plan]?.prices.EGP ?? 0) > (plans[row.plan]?.prices.EGP ?? 0)
		? {does: 'UPGRADE'}
		: giveBack(`The subscription is already on ${row.plan}.`);
};

/** The period that follows the one of the row. */
const judgeRenewal = (attempt: BillingAttempt, row: Subscription, now: Date): Judgement => {
	if (!isSame(attempt.periodStart, row.currentPeriodEnd)) {
		return giveBack('Its period is already paid.');
	}

	// Late, after the subscription ended: it must not come back by itself, except where it was about to go on.
	const {currentPeriodEnd: end} = row;
	const isInGrace = end !== null && now < graceEnd(end);
	const mayReturn = row.status === 'CANCELED' && attempt.status !== 'SUPERSEDED' && isInGrace;
	return isLive(row) || mayReturn ? {does: 'RENEW'} : giveBack('The subscription has ended.');
};

type Prices = {plans: Readonly<Record<string, {prices: {EGP: number}}>>};

/** What a payment of the right amount does to the organization's row (contract/billing 9). */
export const judgePayment = (prices: Prices, attempt: BillingAttempt, row: Subscription, now: Date): Judgement => {
	if (attempt.status === 'PAID' || attempt.status === 'REVIEW') {
		return giveBack('It is a duplicate payment.');
	}

	if (attempt.purpose === 'FIRST') {
		return judgeFirst(attempt, row);
	}

	if (row.gateway !== 'GATEWAY_B') {
		return giveBack('The organization no longer pays through this gateway.');
	}

	return attempt.purpose === 'UPGRADE' ? judgeUpgrade(prices, attempt, row, now) : judgeRenewal(attempt, row, now);
};

/** Why a payment is not the one that was asked for; null where it is. */
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

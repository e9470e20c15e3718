import {DAY_MS} from '../../platform/clock.ts';
import type {Currency} from '../../platform/config/plans.ts';

/** GATEWAY_A is Stripe, GATEWAY_B Paymob. */
export type GatewayName = 'GATEWAY_A' | 'GATEWAY_B';

export type SubscriptionStatus = 'INACTIVE' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED';

/** The one subscription of an organization (contract/billing 5). MANUAL: ops set the plan. */
export type Subscription = {
	id: string;
	organizationId: string;
	plan: string;
	status: SubscriptionStatus;
	gateway: GatewayName | 'MANUAL';
	gatewaySubscriptionId: string | null;
	/** The customer at GATEWAY_A; kept while the organization pays through another. */
	gatewayCustomerId: string | null;
	currentPeriodStart: Date | null;
	currentPeriodEnd: Date | null;
	cancelAtPeriodEnd: boolean;
	scheduledPlan: string | null;
	/** When the row became PAST_DUE; null in any other status. */
	pastDueAt: Date | null;
	/** GATEWAY_B: the date from which its monthly periods are counted; null after ops ended it. */
	anchorAt: Date | null;
	createdAt: Date;
	updatedAt: Date;
};

/** As the API shows it (contract/billing 3). */
export const subscriptionJson = (subscription: Subscription) => ({
	id: subscription.id,
	plan: subscription.plan,
	status: subscription.status,
	gateway: subscription.gateway,
	currentPeriodStart: subscription.currentPeriodStart,
	currentPeriodEnd: subscription.currentPeriodEnd,
	cancelAtPeriodEnd: subscription.cancelAtPeriodEnd,
	scheduledPlan: subscription.scheduledPlan,
	createdAt: subscription.createdAt,
	updatedAt: subscription.updatedAt,
});

/** Whether it runs, paid or in grace: a checkout is then refused, and a change is possible. */
export const isLive = ({status}: Pick<Subscription, 'status'>): boolean => status === 'ACTIVE' || status === 'PAST_DUE';

/** Days for which the plan still entitles after a renewal failed (contract/billing 4). */
const GRACE_DAYS = 7;

/** When the grace that begins at `date` ends. */
export const graceEnd = (date: Date): Date => new Date(date.getTime() + GRACE_DAYS * DAY_MS);

/** When the paid time of a PAST_DUE row ends: GATEWAY_A has begun the next period, GATEWAY_B has not. */
const paidUntil = ({
	gateway,
	currentPeriodStart,
	currentPeriodEnd,
}: Pick<Subscription, 'gateway' | 'currentPeriodStart' | 'currentPeriodEnd'>): Date | null =>
	gateway === 'GATEWAY_A' ? currentPeriodStart : currentPeriodEnd;

/**
 * The end of the entitlement by the plan; null: no end is known, or the plan has fallen back. An ACTIVE row has a grace
 * after its period, because the event of its renewal may be late; one that ops set has no period until it is canceled.
 * A grace that was over before the row became PAST_DUE does not begin again.
 */
export const entitledUntil = (
	row: Pick<Subscription, 'status' | 'gateway' | 'currentPeriodStart' | 'currentPeriodEnd' | 'pastDueAt'>,
): Date | null => {
	const {status, currentPeriodEnd, pastDueAt} = row;
	if (status === 'ACTIVE') {
		return currentPeriodEnd === null ? null : graceEnd(currentPeriodEnd);
	}

	if (status !== 'PAST_DUE' || pastDueAt === null) {
		return null;
	}

	const paid = paidUntil(row);
	const wasGone = paid !== null && graceEnd(paid) < pastDueAt;
	return wasGone ? graceEnd(paid) : graceEnd(pastDueAt);
};

/** Whether a row has these values already. */
export const hasValues = (row: Subscription, values: Partial<Subscription>): boolean =>
	Object.entries(values).every(([field, value]) => {
		const current = row[field as keyof Subscription];
		return current instanceof Date && value instanceof Date ? current.getTime() === value.getTime() : current === value;
	});

/** Whether it entitles at `now`, and `/subscription/active` shows it (contract/billing 4). */
export const isEntitling = (subscription: Subscription, now: Date): boolean => {
	const until = entitledUntil(subscription);
	return isLive(subscription) && (until === null || until > now);
};

/**
 * The end of the `count`th calendar month from `anchor` (UTC), on the anchor's day or the month's last one: 31 January,
 * 28 February, 31 March. Counted from the anchor: a short month shortens no later one.
 */
export const monthsFrom = (anchor: Date, count: number): Date => {
	const result = new Date(anchor);
	result.setUTCDate(1);
	result.setUTCMonth(anchor.getUTCMonth() + count);
	const lastDay = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
	result.setUTCDate(Math.min(anchor.getUTCDate(), lastDay));
	return result;
};

/** The first such end after `after`. */
const nextPeriodEnd = (anchor: Date, after: Date): Date => {
	const months = (after.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + after.getUTCMonth() - anchor.getUTCMonth();
	return [months, months + 1].map((count) => monthsFrom(anchor, count)).find((end) => end > after) ?? after;
};

/**
 * The period that follows the row's, where Oplink renews it. One that is paid late ends when it would have ended, but never in the
 * past: months without a service are not charged.
 */
export const nextPeriodOf = (
	{currentPeriodEnd, anchorAt}: Pick<Subscription, 'currentPeriodEnd' | 'anchorAt'>,
	now: Date,
): {periodStart: Date; periodEnd: Date} => {
	const periodStart = currentPeriodEnd ?? now;
	const latest = periodStart > now ? periodStart : now;
	return {periodStart, periodEnd: nextPeriodEnd(anchorAt ?? periodStart, latest)};
};

/**
 * The end of a subscription that ops set, which has no period: canceled at `canceledAt`, it ends a whole number of
 * months after it began.
 */
export const manualPeriodEnd = (
	{gateway, currentPeriodStart, createdAt}: Pick<Subscription, 'gateway' | 'currentPeriodStart' | 'createdAt'>,
	canceledAt: Date | null,
): {currentPeriodEnd?: Date | null} => {
	if (gateway !== 'MANUAL') {
		return {};
	}

	return {currentPeriodEnd: canceledAt === null ? null : nextPeriodEnd(currentPeriodStart ?? createdAt, canceledAt)};
};

/** The smallest charge, in minor units. */
const MIN_CHARGE: Record<Currency, number> = {USD: 50, EGP: 100};

/** The price of an upgrade for the rest of the period, in minor units (contract/billing 7). */
export const proratedDifference = (
	{from, to, currency}: {from: number; to: number; currency: Currency},
	period: {start: Date; end: Date},
	now: Date,
): number => {
	const whole = period.end.getTime() - period.start.getTime();
	const left = Math.min(Math.max(period.end.getTime() - now.getTime(), 0), whole);
	return Math.max(Math.round(((to - from) * left) / whole), MIN_CHARGE[currency]);
};

import type Stripe from 'stripe';
import type {Plans} from '../../../platform/config/plans.ts';
import {isUuid} from '../../../platform/uuid.ts';
import type {SubscriptionStatus} from '../subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** A subscription of Stripe in our terms. `plan` is null if the price belongs to no plan. */
export type RemoteSubscription = {
	id: string;
	customerId: string | null;
	status: SubscriptionStatus;
	/** The first payment can no longer come. */
	isExpired: boolean;
	plan: string | null;
	priceId: string;
	currentPeriodStart: Date;
	currentPeriodEnd: Date;
	cancelAtPeriodEnd: boolean;
	/** The plan that a schedule sets for the next period; undefined if only Stripe knows it. */
	scheduledPlan: string | null | undefined;
	/** From the metadata of the checkout; null if Oplink did not open it. */
	attemptId: string | null;
	latestInvoice: Stripe.Invoice | null;
};

/** contract/billing 4. */
const statuses: Record<string, SubscriptionStatus> = {
	incomplete: 'INACTIVE',
	incomplete_expired: 'INACTIVE',
	trialing: 'ACTIVE',
	active: 'ACTIVE',
	past_due: 'PAST_DUE',
	unpaid: 'PAST_DUE',
	paused: 'PAST_DUE',
	canceled: 'CANCELED',
};

/** The plan of a Stripe price. */
export const planOfPrice = (plans: Plans, priceId: string | null): string | null =>
	Object.entries(plans).find(([, {stripePrice}]) => stripePrice !== null && stripePrice === priceId)?.[0] ?? null;

/** The type is checked first: testing a deeply nested array would overflow the stack. */
export const uuidOrNull = (value: unknown): string | null =>
	typeof value === 'string' && isUuid(value) ? value : null;

const scheduledPlanOf = (
	plans: Plans,
	{schedule}: Stripe.Subscription,
	{current_period_end: end}: Stripe.SubscriptionItem,
): string | null | undefined => {
	if (typeof schedule === 'string') {
		return undefined;
	}

	const next = schedule?.phases.find(({start_date: start}) => start >= end);
	return planOfPrice(plans, idOf(next?.items[0]?.price));
};

/**
 * Reads a subscription of the pinned API version, with its latest invoice and its schedule expanded.
 * @returns null without an item that has a price and a period: Oplink makes no such subscription.
 */
export const readSubscription = (plans: Plans, remote: Stripe.Subscription): RemoteSubscription | null => {
	// A deleted subscription comes from the event, unchecked.
	const {items} = remote as Partial<Stripe.Subscription>;
	const item = items?.data?.[0];
	if (!item?.price || !Number.isFinite(item.current_period_start) || !Number.isFinite(item.current_period_end)) {
		return null;
	}

	const {latest_invoice: invoice, metadata} = remote;
	return {
		id: remote.id,
		customerId: idOf(remote.customer),
		status: statuses[remote.status] ?? 'INACTIVE',
		isExpired: remote.status === 'incomplete_expired',
		plan: planOfPrice(plans, item.price.id),
		priceId: item.price.id,
		currentPeriodStart: dateOf(item.current_period_start),
		currentPeriodEnd: dateOf(item.current_period_end),
		cancelAtPeriodEnd: remote.cancel_at_period_end || remote.cancel_at !== null,
		scheduledPlan: scheduledPlanOf(plans, remote, item),
		attemptId: uuidOrNull(metadata?.['attemptId']),
		latestInvoice: typeof invoice === 'object' ? invoice : null,
	};
};

/** Whether an invoice is paid. One over 0, with a full discount, counts. */
export const isPaid = (invoice: Stripe.Invoice | null): invoice is Stripe.Invoice => invoice?.status === 'paid';

/** The paid invoices, each once, as it was read last. */
export const paidOnes = (invoices: ReadonlyArray<Stripe.Invoice | null>): Stripe.Invoice[] =>
	invoices
		.filter((one, index) => !invoices.slice(index + 1).some((later) => later?.id === one?.id))
		.filter((one) => isPaid(one));

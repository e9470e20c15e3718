import type Stripe from 'stripe';
import type {Plans} from '../../plans/plans.ts';
import {isUuid} from '../../uuid.ts';
import type {SubscriptionStatus} from '../subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** What the gateway says of a subscription, in our words. `plan` is null for a price that is no plan's. */
export type RemoteSubscription = {
	id: string;
	customerId: string | null;
	status: SubscriptionStatus;
	/** Whether the first payment can not come any more. */
	isExpired: boolean;
	plan: string | null;
	priceId: string;
	currentPeriodStart: Date;
	currentPeriodEnd: Date;
	cancelAtPeriodEnd: boolean;
	/** The plan that a schedule puts it on with the next period; undefined where only the gateway knows. */
	scheduledPlan: string | null | undefined;
	/** Our attempt, as it was named at the checkout; null for what is not ours. */
	attemptId: string | null;
	/** Only with money in it may a subscription be activated. */
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

/** The plan that a price of the gateway is for. */
export const planOfPrice = (plans: Plans, priceId: string | null): string | null =>
	Object.entries(plans).find(([, {stripePrice}]) => stripePrice !== null && stripePrice === priceId)?.[0] ?? null;

/** Of what an event says, whatever it is: to test a deep array would end the stack. */
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
 * Reads a subscription object of the pinned API version, with its latest invoice and its schedule in it.
 * @returns null where it has no item with a price and a period, as nothing of ours has.
 */
export const readSubscription = (plans: Plans, remote: Stripe.Subscription): RemoteSubscription | null => {
	// That of an event about a deleted subscription is as it was sent.
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

/** Whether money of an invoice has come; one over nothing counts, as a full discount makes. */
export const isPaid = (invoice: Stripe.Invoice | null): invoice is Stripe.Invoice => invoice?.status === 'paid';

/** The paid ones of invoices, each once, as it was read last. */
export const paidOnes = (invoices: ReadonlyArray<Stripe.Invoice | null>): Stripe.Invoice[] =>
	invoices
		.filter((one, index) => !invoices.slice(index + 1).some((later) => later?.id === one?.id))
		.filter((one) => isPaid(one));

import type Stripe from 'stripe';
import type {Plans} from '../../plans/plans.ts';
import type {Subscription, SubscriptionStatus} from '../subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** What the gateway says of a subscription, in our words. `plan` is null for a price that is no plan's. */
export type RemoteSubscription = {
	id: string;
	customerId: string | null;
	status: SubscriptionStatus;
	plan: string | null;
	priceId: string;
	currentPeriodStart: Date;
	currentPeriodEnd: Date;
	cancelAtPeriodEnd: boolean;
	hasSchedule: boolean;
	/** Ours, as they were given at the checkout; null for what is not ours. */
	organizationId: string | null;
	attemptId: string | null;
	/** Only with money in it may a subscription be activated. */
	latestInvoice: Stripe.Invoice | null;
};

/** `facts/providers.md` 5.2. */
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

const planOfPrice = (plans: Plans, priceId: string): string | null =>
	Object.entries(plans).find(([, {stripePrice}]) => stripePrice === priceId)?.[0] ?? null;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const uuidOrNull = (text: string | undefined): string | null => (text !== undefined && UUID.test(text) ? text : null);

/** Reads a subscription object of the pinned API version. @returns null where it has no item, as nothing of ours has. */
export const readSubscription = (plans: Plans, remote: Stripe.Subscription): RemoteSubscription | null => {
	const [item] = remote.items.data;
	if (item === undefined) {
		return null;
	}

	const {latest_invoice: invoice, metadata} = remote;
	return {
		id: remote.id,
		customerId: idOf(remote.customer),
		status: statuses[remote.status] ?? 'INACTIVE',
		plan: planOfPrice(plans, item.price.id),
		priceId: item.price.id,
		currentPeriodStart: dateOf(item.current_period_start),
		currentPeriodEnd: dateOf(item.current_period_end),
		cancelAtPeriodEnd: remote.cancel_at_period_end || remote.cancel_at !== null,
		hasSchedule: remote.schedule !== null,
		organizationId: uuidOrNull(metadata.orgId),
		attemptId: uuidOrNull(metadata.attemptId),
		latestInvoice: typeof invoice === 'object' ? invoice : null,
	};
};

/** Whether money of an invoice has come; one over nothing counts, as a full discount makes. */
export const isPaid = (invoice: Stripe.Invoice | null): invoice is Stripe.Invoice => invoice?.status === 'paid';

/** Whether a row says already what the gateway says. */
export const saysTheSame = (row: Subscription, state: Partial<Subscription>): boolean =>
	Object.entries(state).every(([field, value]) => {
		const current = row[field as keyof Subscription];
		return current instanceof Date && value instanceof Date ? current.getTime() === value.getTime() : current === value;
	});

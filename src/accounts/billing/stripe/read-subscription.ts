import type Stripe from 'stripe';
import {FREE_PLAN, type Plans} from '../../../platform/config/plans.ts';
import type {Db} from '../../../platform/db/db.ts';
import {isUuid} from '../../../platform/text.ts';
import {type Caller, systemCaller} from '../../audit/audit-log.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {BillingServices} from '../gateway.ts';
import type {SubscriptionStatus} from '../subscription.ts';
import type {SubscriptionState} from '../subscription-store.ts';
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

/** The receiver, in audit records. */
export const byStripe: Caller = {actor: {...systemCaller.actor, name: 'Stripe'}, requestId: null};

/** The dependencies of projecting a subscription, in the transaction that records the event. */
export type Projection = {
	services: Pick<BillingServices, 'config' | 'log'>;
	trx: Db;
	organizationId: string;
	now: Date;
	/** Takes the checkouts that an activation superseded, to be closed at the gateway afterwards. */
	superseded: BillingAttempt[];
};

/** The row's new state: Stripe's current one, not that of the event. */
export const stateFrom = (
	remote: RemoteSubscription,
	{plan, scheduledPlan, pastDueAt}: {plan: string; scheduledPlan: string | null; pastDueAt: Date | null},
	now: Date,
): Omit<SubscriptionState, 'anchorAt'> => {
	const ends = remote.status !== 'CANCELED' && remote.cancelAtPeriodEnd;
	// At Stripe a downgrade to the free plan is a cancellation; only the row distinguishes them.
	const ending = scheduledPlan === FREE_PLAN ? FREE_PLAN : null;
	const scheduled = remote.scheduledPlan === undefined ? scheduledPlan : remote.scheduledPlan;
	const next = remote.status === 'CANCELED' || scheduled === plan ? null : scheduled;
	return {
		plan,
		status: remote.status,
		gateway: 'GATEWAY_A',
		gatewaySubscriptionId: remote.id,
		gatewayCustomerId: remote.customerId,
		currentPeriodStart: remote.currentPeriodStart,
		currentPeriodEnd: remote.currentPeriodEnd,
		cancelAtPeriodEnd: ends,
		scheduledPlan: ends ? ending : next,
		pastDueAt: remote.status === 'PAST_DUE' ? (pastDueAt ?? now) : null,
	};
};

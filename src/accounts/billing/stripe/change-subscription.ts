import type Stripe from 'stripe';
import {type Plans, planNamed} from '../../../platform/config/plans.ts';
import {gatewayFailed, noSubscription, renewalOwed, workUnderWay} from '../../../platform/errors.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {Payer, Upgrade} from '../gateway.ts';
import type {Subscription} from '../subscription.ts';
import {priceOf} from './open-checkout.ts';
import {planOfPrice} from './read-subscription.ts';
import {call, callOrNull, callOrRefusal, idOf} from './stripe-client.ts';

type StripeRow = Pick<Subscription, 'gatewaySubscriptionId'>;
type RemoteItem = {remote: Stripe.Subscription; item: Stripe.SubscriptionItem};

/** The subscription at Stripe, with its one item. @throws 409 if it has ended there; 502. */
const running = async (stripe: Stripe, {gatewaySubscriptionId: id}: StripeRow): Promise<RemoteItem> => {
	if (id === null) {
		throw gatewayFailed(new Error('the row of a Stripe subscription has no gatewaySubscriptionId'));
	}

	const remote = await call(stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']}));
	if (remote.status === 'canceled') {
		throw noSubscription();
	}

	const [item] = remote.items.data;
	if (item === undefined) {
		throw gatewayFailed(new Error(`the subscription ${remote.id} has no item`));
	}

	return {remote, item};
};

/** Releases the schedule, which would refuse changes to the subscription. One that is over is ignored. */
const release = async (stripe: Stripe, remote: Stripe.Subscription): Promise<void> => {
	const schedule = idOf(remote.schedule);
	if (schedule !== null) {
		await callOrRefusal(stripe.subscriptionSchedules.release(schedule));
	}
};

/** Whether the current period is unpaid: its invoice is not charged yet, or the card was declined. */
const owesRenewal = ({status, latest_invoice: invoice}: Stripe.Subscription): boolean => {
	const isUnpaid = typeof invoice === 'object' && (invoice?.status === 'draft' || invoice?.status === 'open');
	return status === 'past_due' || status === 'unpaid' || (isUnpaid && invoice.billing_reason === 'subscription_cycle');
};

/**
 * Charges the difference to a higher price now. If the card is declined, the change waits for its invoice.
 * @throws 409 while the renewal is unpaid: the difference would become the latest invoice, by which Stripe decides
 * whether a subscription is paid. @throws 409 while the plan at Stripe differs from the row's: the new plan may be
 * cheaper than the one at Stripe.
 */
export const upgradeNow = async (
	{stripe, plans, returnUrl}: {stripe: Stripe; plans: Plans; returnUrl: string},
	subscription: Pick<Subscription, 'gatewaySubscriptionId' | 'plan'>,
	attempt: BillingAttempt,
	payer: Payer,
): Promise<Upgrade> => {
	const price = priceOf(attempt);
	const {remote, item} = await running(stripe, subscription);
	const plan = planOfPrice(plans, item.price.id);
	if (plan !== null && plan !== planNamed(plans, subscription.plan) && item.price.id !== price) {
		throw workUnderWay();
	}

	const isDone = item.price.id === price && remote.pending_update === null;
	if (!isDone && owesRenewal(remote)) {
		throw renewalOwed();
	}

	await release(stripe, remote);
	// An earlier attempt succeeded; its answer was lost, or its event is on its way.
	if (isDone) {
		return {paid: true, ref: null, intention: null};
	}

	const changed = await call(
		stripe.subscriptions.update(
			remote.id,
			{
				items: [{id: item.id, price}],
				proration_behavior: 'always_invoice',
				payment_behavior: 'pending_if_incomplete',
				expand: ['latest_invoice'],
			},
			{idempotencyKey: `up:${attempt.id}`},
		),
	);
	const {latest_invoice: invoice} = changed;
	const invoiceId = idOf(invoice);
	const ref = invoiceId === idOf(remote.latest_invoice) ? null : invoiceId;
	if (changed.pending_update === null) {
		return {paid: true, ref, intention: null};
	}

	const url = typeof invoice === 'object' ? invoice?.hosted_invoice_url : null;
	const page = {url: url ?? returnUrl, sessionId: ref ?? attempt.id, customerId: payer.customerId};
	return {paid: false, ...page, ref: ref ?? attempt.id, intention: null};
};

/** Schedules a lower price for the next period, in place of any other schedule. */
export const schedulePrice = async (stripe: Stripe, subscription: StripeRow, price: string): Promise<void> => {
	const {remote, item} = await running(stripe, subscription);
	await release(stripe, remote);
	const schedule = await call(stripe.subscriptionSchedules.create({from_subscription: remote.id}));
	const [current] = schedule.phases;
	await call(
		stripe.subscriptionSchedules.update(schedule.id, {
			end_behavior: 'release',
			proration_behavior: 'none',
			phases: [
				{
					start_date: current?.start_date ?? item.current_period_start,
					end_date: current?.end_date ?? item.current_period_end,
					items: [{price: item.price.id, quantity: 1}],
				},
				{
					items: [{price, quantity: 1}],
					proration_behavior: 'none',
					duration: {interval: 'month', interval_count: 1},
				},
			],
		}),
	);
};

/** Cancels a scheduled price. */
export const keepPrice = async (stripe: Stripe, subscription: StripeRow): Promise<void> =>
	release(stripe, (await running(stripe, subscription)).remote);

/** Cancels at the end of the period, or withdraws that cancellation. */
export const setCancelAtPeriodEnd = async (stripe: Stripe, subscription: StripeRow, cancel: boolean): Promise<void> => {
	const {remote} = await running(stripe, subscription);
	await release(stripe, remote);
	const {cancel_at: at, cancel_at_period_end: atPeriodEnd} = remote;
	if (cancel ? atPeriodEnd : !atPeriodEnd && at === null) {
		return;
	}

	// Stripe's customer portal may have set a date instead; both at once are refused.
	const resume: Stripe.SubscriptionUpdateParams = atPeriodEnd ? {cancel_at_period_end: false} : {cancel_at: ''};
	await call(stripe.subscriptions.update(remote.id, cancel ? {cancel_at_period_end: true} : resume));
};

/** Ends the subscription now, without an invoice. One that has ended is left alone. @throws 502. */
export const cancelNow = async (stripe: Stripe, {gatewaySubscriptionId: id}: StripeRow): Promise<void> => {
	if (id === null) {
		return;
	}

	const refusal = await callOrRefusal(stripe.subscriptions.cancel(id, {invoice_now: false, prorate: false}));
	const remaining = refusal === null ? null : await callOrNull(stripe.subscriptions.retrieve(id));
	if (remaining !== null && remaining.status !== 'canceled') {
		throw gatewayFailed(new Error(`the subscription ${id} could not be canceled: ${refusal?.code}`));
	}
};

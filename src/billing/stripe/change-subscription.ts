import type Stripe from 'stripe';
import {gatewayFailed, noSubscription, renewalOwed, workUnderWay} from '../../errors.ts';
import {type Plans, planNamed} from '../../plans/plans.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {Payer, Upgrade} from '../gateway.ts';
import type {Subscription} from '../subscription.ts';
import {priceOf} from './open-checkout.ts';
import {planOfPrice} from './read-subscription.ts';
import {ask, askFor, askOrRefusal, idOf} from './stripe-client.ts';

type Named = Pick<Subscription, 'gatewaySubscriptionId'>;
type Running = {remote: Stripe.Subscription; item: Stripe.SubscriptionItem};

/**
 * The running subscription at the gateway, with its one item.
 * @throws 409 for one that has ended there, of which we have not been told yet; 502.
 */
const running = async (stripe: Stripe, {gatewaySubscriptionId: id}: Named): Promise<Running> => {
	if (id === null) {
		throw gatewayFailed(new Error('a subscription of gateway A has no id there'));
	}

	const remote = await ask(stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']}));
	if (remote.status === 'canceled') {
		throw noSubscription();
	}

	const [item] = remote.items.data;
	if (item === undefined) {
		throw gatewayFailed(new Error(`the subscription ${remote.id} has no item`));
	}

	return {remote, item};
};

/** A schedule refuses changes of what it manages, so it goes first. One that is over is none. */
const release = async (stripe: Stripe, remote: Stripe.Subscription): Promise<void> => {
	const schedule = idOf(remote.schedule);
	if (schedule !== null) {
		await askOrRefusal(stripe.subscriptionSchedules.release(schedule));
	}
};

/** Whether the period that has begun is not paid: its invoice is still to be charged, or was refused. */
const owesRenewal = ({status, latest_invoice: invoice}: Stripe.Subscription): boolean => {
	const isUnpaid = typeof invoice === 'object' && (invoice?.status === 'draft' || invoice?.status === 'open');
	return status === 'past_due' || status === 'unpaid' || (isUnpaid && invoice.billing_reason === 'subscription_cycle');
};

/**
 * Takes the difference to a dearer price now; where the card is refused, the price waits for its invoice.
 * @throws 409 while the renewal is owed: the difference alone would make its invoice the latest one, by which the
 * gateway tells whether a subscription is paid; and while the row is on another plan than the gateway, because we have not been told of a change yet: what is
 * dearer than the row may be cheaper than what was paid for meanwhile.
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
	// An earlier attempt whose answer was lost, or whose event is on its way, did it already.
	if (isDone) {
		return {paid: true, ref: null, ref2: null};
	}

	const changed = await ask(
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
		return {paid: true, ref, ref2: null};
	}

	const url = typeof invoice === 'object' ? invoice?.hosted_invoice_url : null;
	const page = {url: url ?? returnUrl, sessionId: ref ?? attempt.id, customerId: payer.customerId};
	return {paid: false, ...page, ref: ref ?? attempt.id, ref2: null};
};

/** Puts the subscription on a cheaper price from the next period on. What was scheduled before is replaced. */
export const schedulePrice = async (stripe: Stripe, subscription: Named, price: string): Promise<void> => {
	const {remote, item} = await running(stripe, subscription);
	await release(stripe, remote);
	const schedule = await ask(stripe.subscriptionSchedules.create({from_subscription: remote.id}));
	const [current] = schedule.phases;
	await ask(
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

/** Lets go of what was scheduled. */
export const keepPrice = async (stripe: Stripe, subscription: Named): Promise<void> =>
	release(stripe, (await running(stripe, subscription)).remote);

/** Lets the subscription end with its period, or go on after all. Said already, it is left alone. */
export const setCancelAtPeriodEnd = async (stripe: Stripe, subscription: Named, cancel: boolean): Promise<void> => {
	const {remote} = await running(stripe, subscription);
	await release(stripe, remote);
	const {cancel_at: at, cancel_at_period_end: atPeriodEnd} = remote;
	if (cancel ? atPeriodEnd : !atPeriodEnd && at === null) {
		return;
	}

	// The customer's own page may have said it as a date; both at once are refused.
	const undone: Stripe.SubscriptionUpdateParams = atPeriodEnd ? {cancel_at_period_end: false} : {cancel_at: ''};
	await ask(stripe.subscriptions.update(remote.id, cancel ? {cancel_at_period_end: true} : undone));
};

/** Ends the subscription now, without an invoice. @throws 502, unless it has ended already. */
export const cancelNow = async (stripe: Stripe, {gatewaySubscriptionId: id}: Named): Promise<void> => {
	if (id === null) {
		return;
	}

	const refusal = await askOrRefusal(stripe.subscriptions.cancel(id, {invoice_now: false, prorate: false}));
	const left = refusal === null ? null : await askFor(stripe.subscriptions.retrieve(id));
	if (left !== null && left.status !== 'canceled') {
		throw gatewayFailed(new Error(`the subscription ${id} could not be canceled: ${refusal?.code}`));
	}
};

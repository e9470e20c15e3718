import {createHash} from 'node:crypto';
import type Stripe from 'stripe';
import {gatewayFailed} from '../../errors.ts';
import type {Plans} from '../../plans/plans.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {CardGateway, Checkout, Payer} from '../gateway.ts';
import type {Subscription} from '../subscription.ts';
import {ask, askToUndo, idOf} from './stripe-client.ts';

type Deps = {stripe: Stripe; plans: Plans; returnUrl: string};

/**
 * The organization's customer, made on the first checkout. The key lets a repetition find what a lost answer made; it
 * changes with what is sent, because the gateway refuses a known key with other parameters.
 */
const customerOf = async (stripe: Stripe, {customerId, organizationId, name, email}: Payer): Promise<string> => {
	if (customerId !== null) {
		return customerId;
	}

	const version = createHash('sha256').update(`${name}\n${email}`).digest('hex').slice(0, 16);
	const customer = await ask(
		stripe.customers.create(
			{name, ...(email === null ? {} : {email}), metadata: {orgId: organizationId}},
			{idempotencyKey: `cus:${organizationId}:${version}`},
		),
	);
	return customer.id;
};

const priceOf = ({priceId, plan}: BillingAttempt): string => {
	if (priceId === null) {
		throw gatewayFailed(new Error(`the plan ${plan} has no stripePrice`));
	}

	return priceId;
};

const openCheckout = async ({stripe, returnUrl}: Deps, attempt: BillingAttempt, payer: Payer): Promise<Checkout> => {
	const customer = await customerOf(stripe, payer);
	// A session's metadata does not reach its subscription, whose events are what counts (`facts/providers.md` 3.2).
	const metadata = {orgId: payer.organizationId, attemptId: attempt.id, plan: attempt.plan};
	const session = await ask(
		stripe.checkout.sessions.create(
			{
				mode: 'subscription',
				customer,
				line_items: [{price: priceOf(attempt), quantity: 1}],
				client_reference_id: attempt.id,
				metadata,
				subscription_data: {metadata},
				success_url: `${returnUrl}?session_id={CHECKOUT_SESSION_ID}`,
				cancel_url: returnUrl,
			},
			{idempotencyKey: `cs:${attempt.id}`},
		),
	);
	return {url: session.url ?? returnUrl, sessionId: session.id, ref: session.id, ref2: null, customerId: customer};
};

/** The running subscription at the gateway, with its one item. @throws 502. */
const running = async (stripe: Stripe, {gatewaySubscriptionId}: Pick<Subscription, 'gatewaySubscriptionId'>) => {
	const remote = await ask(stripe.subscriptions.retrieve(gatewaySubscriptionId ?? ''));
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
		await askToUndo(stripe.subscriptionSchedules.release(schedule));
	}
};

/** Gateway A (`facts/providers.md` 3 and 5.3). */
export const createStripeGateway = (deps: Deps): CardGateway => {
	const {stripe, plans, returnUrl} = deps;
	return {
		name: 'GATEWAY_A',
		openCheckout: (attempt, payer) => openCheckout(deps, attempt, payer),
		closeCheckout: async ({gatewayRef}) => {
			if (gatewayRef !== null) {
				await askToUndo(stripe.checkout.sessions.expire(gatewayRef));
			}
		},

		upgrade: async (subscription, attempt, payer) => {
			const {remote, item} = await running(stripe, subscription);
			await release(stripe, remote);
			const changed = await ask(
				stripe.subscriptions.update(
					remote.id,
					{
						items: [{id: item.id, price: priceOf(attempt)}],
						proration_behavior: 'always_invoice',
						payment_behavior: 'pending_if_incomplete',
						expand: ['latest_invoice'],
					},
					{idempotencyKey: `up:${attempt.id}`},
				),
			);
			const {latest_invoice: invoice} = changed;
			const ref = idOf(invoice) ?? attempt.id;
			if (changed.pending_update === null) {
				return {paid: true, ref, ref2: null};
			}

			const url = typeof invoice === 'object' ? invoice?.hosted_invoice_url : null;
			return {paid: false, url: url ?? returnUrl, sessionId: ref, ref, ref2: null, customerId: payer.customerId};
		},

		scheduleDowngrade: async (subscription, plan) => {
			const {remote, item} = await running(stripe, subscription);
			const price = plans[plan]?.stripePrice ?? null;
			if (price === null) {
				throw gatewayFailed(new Error(`the plan ${plan} has no stripePrice`));
			}

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
		},

		keepPlan: async (subscription) => release(stripe, (await running(stripe, subscription)).remote),

		setCancelAtPeriodEnd: async (subscription, cancel) => {
			const {remote} = await running(stripe, subscription);
			await release(stripe, remote);
			// The customer's own page may have said it as a date; both at once are refused.
			const undone = remote.cancel_at !== null && !remote.cancel_at_period_end;
			await ask(
				stripe.subscriptions.update(remote.id, !cancel && undone ? {cancel_at: ''} : {cancel_at_period_end: cancel}),
			);
		},

		cancelNow: async ({gatewaySubscriptionId}) => {
			if (gatewaySubscriptionId !== null) {
				await askToUndo(stripe.subscriptions.cancel(gatewaySubscriptionId, {invoice_now: false, prorate: false}));
			}
		},

		openPortal: async (customer) =>
			(await ask(stripe.billingPortal.sessions.create({customer, return_url: returnUrl}))).url,
	};
};

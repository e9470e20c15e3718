import type Stripe from 'stripe';
import {type Actor, type Caller, systemCaller} from '../../audit/audit-log.ts';
import type {Db} from '../../db/db.ts';
import type {Services} from '../../services.ts';
import {applySubscription, FALLBACK_PLAN} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore, type SubscriptionState} from '../subscription-store.ts';
import {isPaid, type RemoteSubscription, saysTheSame} from './read-subscription.ts';
import {recordStripeInvoice} from './record-invoice.ts';

const actor: Actor = {...systemCaller.actor, name: 'Gateway A'};
const by: Caller = {actor, requestId: null};

/** What is written of a subscription: what the gateway says, whatever event made us ask. */
const stateFrom = (
	remote: RemoteSubscription,
	{plan, scheduledPlan, pastDueAt}: {plan: string; scheduledPlan: string | null; pastDueAt: Date | null},
	now: Date,
): Omit<SubscriptionState, 'anchorAt'> => {
	// A schedule stays with the gateway for the first period of the plan that it brought.
	const isScheduled = remote.cancelAtPeriodEnd
		? scheduledPlan === FALLBACK_PLAN
		: remote.hasSchedule && scheduledPlan !== plan;
	const ended = remote.status === 'CANCELED';
	return {
		plan,
		status: remote.status,
		gateway: 'GATEWAY_A',
		gatewaySubscriptionId: remote.id,
		gatewayCustomerId: remote.customerId,
		currentPeriodStart: remote.currentPeriodStart,
		currentPeriodEnd: remote.currentPeriodEnd,
		cancelAtPeriodEnd: !ended && remote.cancelAtPeriodEnd,
		scheduledPlan: !ended && isScheduled ? scheduledPlan : null,
		pastDueAt: remote.status === 'PAST_DUE' ? (pastDueAt ?? now) : null,
	};
};

type Place = {services: Services; trx: Db; organizationId: string; now: Date};

/** Upgrades that were asked for and are in force now are paid; the invoice is theirs. */
const settleUpgrades = async (
	{trx, organizationId, now}: Place,
	{plan, latestInvoice}: RemoteSubscription,
): Promise<BillingAttempt | null> => {
	const attempts = createAttemptStore(trx);
	const open = await attempts.lockOpenUpgrade(organizationId, 'GATEWAY_A');
	if (open === null || open.plan !== plan || !isPaid(latestInvoice)) {
		return null;
	}

	await attempts.update(organizationId, open.id, {status: 'PAID', transactionId: latestInvoice.id ?? null}, now);
	return open;
};

/** The subscription that the row is about: the row says what the gateway says. */
const project = async (
	place: Place,
	row: Subscription,
	remote: RemoteSubscription,
	invoice: Stripe.Invoice | null,
): Promise<Verdict> => {
	const {services, trx, organizationId, now} = place;
	const state = stateFrom(remote, {...row, plan: remote.plan ?? row.plan}, now);
	const upgrade = await settleUpgrades(place, remote);
	const attemptId = upgrade?.id ?? null;
	if (isPaid(invoice)) {
		await recordStripeInvoice(trx, invoice, {organizationId, plan: state.plan, plans: services.config.plans, now});
	}

	if (!saysTheSame(row, state)) {
		await applySubscription(trx, {organizationId, state, by, now, action: 'PROJECT'});
	}

	if (remote.plan === null) {
		const reason = `The price ${remote.priceId} belongs to no plan; the plan stays ${row.plan}.`;
		services.log.error({organizationId, priceId: remote.priceId}, 'a subscription has a price of no plan');
		return {outcome: 'REVIEW', reason, organizationId, attemptId};
	}

	return saysTheSame(row, state)
		? {outcome: 'IGNORED', reason: 'The subscription says so already.', organizationId, attemptId}
		: {outcome: 'APPLIED', reason: `The subscription is ${state.status} on ${state.plan}.`, organizationId, attemptId};
};

/** A first payment: what the attempt asked for was paid, so the row becomes active (`facts/providers.md` 5.4). */
const activate = async (
	{services, trx, organizationId, now}: Place,
	row: Subscription,
	remote: RemoteSubscription,
	attempt: BillingAttempt,
): Promise<Verdict> => {
	const {latestInvoice} = remote;
	const about = {organizationId, attemptId: attempt.id};
	if (remote.status !== 'ACTIVE' || !isPaid(latestInvoice)) {
		return {outcome: 'IGNORED', reason: 'The subscription is not paid yet.', ...about};
	}

	const attempts = createAttemptStore(trx);
	if (remote.priceId !== attempt.priceId || remote.plan !== attempt.plan) {
		const reason = `The price ${remote.priceId} was paid where ${attempt.priceId} was asked for; nothing is activated.`;
		services.log.error({...about, priceId: remote.priceId}, 'a paid price is not the one that was asked for');
		await attempts.update(organizationId, attempt.id, {status: 'REVIEW', lastError: reason}, now);
		return {outcome: 'REVIEW', reason, ...about};
	}

	const state = stateFrom(remote, {plan: attempt.plan, scheduledPlan: null, pastDueAt: null}, now);
	await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: latestInvoice.id ?? null}, now);
	await attempts.supersedeOpen(organizationId, attempt.id, now);
	await recordStripeInvoice(trx, latestInvoice, {
		organizationId,
		plan: attempt.plan,
		plans: services.config.plans,
		now,
	});
	await applySubscription(trx, {
		organizationId,
		state: {...state, anchorAt: null, gatewayCustomerId: remote.customerId ?? row.gatewayCustomerId},
		by,
		now,
		action: 'ACTIVATE',
	});
	return {outcome: 'APPLIED', reason: `The subscription is ACTIVE on ${attempt.plan}.`, ...about};
};

/** Whether a paid subscription would be the organization's second one. */
export const isSecond = (
	row: Subscription | null,
	remote: RemoteSubscription,
	attempt: BillingAttempt | null,
): boolean => {
	if (row === null || !isLive(row) || row.gatewaySubscriptionId === remote.id) {
		return false;
	}

	// What ops set is replaced by the payment that was asked for after it; an older checkout was superseded by it.
	return row.gateway !== 'MANUAL' || attempt?.status !== 'OPEN';
};

/**
 * Writes what the gateway says of a subscription, in the caller's transaction with the row locked
 * (`facts/providers.md` 3.5): duplicates and disorder end in the same row.
 * @param invoice the invoice that the event tells of, or the latest one.
 * @param undone whether the subscription was a second one, which has been canceled and refunded.
 */
export const projectSubscription = async (
	place: Place,
	remote: RemoteSubscription,
	{invoice, undone}: {invoice: Stripe.Invoice | null; undone: boolean},
): Promise<Verdict> => {
	const {trx, organizationId, now} = place;
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	const attempt =
		remote.attemptId === null ? null : await createAttemptStore(trx).lockById('GATEWAY_A', remote.attemptId);
	const about = {organizationId, attemptId: attempt?.id ?? null};
	if (undone) {
		const reason = 'The organization has a subscription already: this one was canceled, and its payment refunded.';
		if (attempt !== null) {
			await createAttemptStore(trx).update(organizationId, attempt.id, {status: 'REVIEW', lastError: reason}, now);
		}

		return {outcome: 'REVIEW', reason, ...about};
	}

	if (row?.gatewaySubscriptionId === remote.id) {
		return project(place, row, remote, invoice);
	}

	if (attempt === null || attempt.organizationId !== organizationId || row === null) {
		throw new Error(`a subscription of ours has no attempt here: ${remote.id}`);
	}

	if (attempt.status === 'PAID' || attempt.status === 'REVIEW') {
		return {outcome: 'IGNORED', reason: `The attempt is ${attempt.status} already.`, ...about};
	}

	return activate(place, row, remote, attempt);
};

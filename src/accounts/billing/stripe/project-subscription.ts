import type Stripe from 'stripe';
import {applySubscription} from '../apply-subscription.ts';
import {createAttemptStore} from '../attempt-store.ts';
import type {Decision} from '../gateway-event-store.ts';
import {hasValues, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {activate, settleEnded} from './activate-subscription.ts';
import {isSecond, wasOurs} from './end-orphan.ts';
import {recordStripeInvoices, settleUpgrades} from './invoices.ts';
import type {RemoteSubscription} from './read-subscription.ts';
import {byStripe, type Projection, stateFrom} from './subscription-state.ts';

/** Updates the row of this subscription to Stripe's state. */
const project = async (
	context: Projection,
	row: Subscription,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<Decision> => {
	const {services, trx, organizationId, now} = context;
	const plan = remote.plan ?? row.plan;
	const about = {organizationId, attemptId: await settleUpgrades(context, remote, paid)};
	await recordStripeInvoices(context, paid, plan);
	if (row.status === 'CANCELED') {
		return {outcome: 'IGNORED', reason: 'The subscription has ended for good.', ...about};
	}

	const state = stateFrom(remote, {...row, plan}, now);
	const isChange = !hasValues(row, state);
	if (isChange) {
		await applySubscription(trx, {organizationId, state, by: byStripe, now, action: 'UPDATE'});
	}

	if (remote.plan === null) {
		const reason = `The price ${remote.priceId} belongs to no plan; the plan stays ${row.plan}.`;
		services.log.error({organizationId, priceId: remote.priceId}, 'a subscription has a price that belongs to no plan');
		return {outcome: 'REVIEW', reason, ...about};
	}

	return isChange
		? {outcome: 'APPLIED', reason: `The subscription is ${state.status} on ${state.plan}.`, ...about}
		: {outcome: 'IGNORED', reason: 'The subscription is already up to date.', ...about};
};

/**
 * Writes Stripe's state of a subscription, in the caller's transaction with organization and row locked
 * (contract/billing 18): duplicates and any order of events end in the same row.
 * @param paid the invoices that prove its payment, the event's first.
 * @throws if the subscription has no attempt here: Stripe delivers the event again, and the log shows it.
 */
export const projectSubscription = async (
	context: Projection,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<Decision> => {
	const {trx, organizationId} = context;
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	if (row?.gatewaySubscriptionId === remote.id) {
		return project(context, row, remote, paid);
	}

	const attempt =
		remote.attemptId === null ? null : await createAttemptStore(trx).lockById('GATEWAY_A', remote.attemptId);
	if (attempt === null && (await wasOurs(trx, organizationId, remote.attemptId))) {
		return {outcome: 'IGNORED', reason: 'The organization was deleted.'};
	}

	if (attempt === null || attempt.organizationId !== organizationId) {
		throw new Error(`a subscription has no attempt in the database: ${remote.id}`);
	}

	const about = {organizationId, attemptId: attempt.id};
	if (attempt.status === 'PAID') {
		// Payments from before the replacement are recorded, however late they are reported.
		await recordStripeInvoices(context, paid, remote.plan ?? attempt.plan);
		return {outcome: 'IGNORED', reason: 'The subscription has been replaced since.', ...about};
	}

	if (remote.status === 'CANCELED' && (attempt.status === 'REVIEW' || attempt.status === 'FAILED')) {
		return settleEnded(context, {remote, attempt, paid});
	}

	// It was not a second one before this transaction; the next delivery ends it.
	if (isSecond(row, remote, attempt)) {
		throw new Error(`the organization has since had another subscription: ${remote.id}`);
	}

	return activate(context, row, {remote, attempt, paid});
};

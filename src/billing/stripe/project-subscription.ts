import type Stripe from 'stripe';
import {applySubscription} from '../apply-subscription.ts';
import {createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import {type Subscription, saysTheSame} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {activate, settleEnded} from './activate-subscription.ts';
import {isSecond, wasOurs} from './end-stray.ts';
import type {RemoteSubscription} from './read-subscription.ts';
import {recordStripeInvoices} from './record-invoice.ts';
import {settleUpgrades} from './settle-upgrades.ts';
import {byGateway, type Place, stateFrom} from './subscription-state.ts';

/** The subscription that the row is about: the row says what the gateway says. */
const project = async (
	place: Place,
	row: Subscription,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<Verdict> => {
	const {services, trx, organizationId, now} = place;
	const plan = remote.plan ?? row.plan;
	const about = {organizationId, attemptId: await settleUpgrades(place, remote, paid)};
	await recordStripeInvoices(place, paid, plan);
	if (row.status === 'CANCELED') {
		return {outcome: 'IGNORED', reason: 'The subscription has ended for good.', ...about};
	}

	const state = stateFrom(remote, {...row, plan}, now);
	const isNews = !saysTheSame(row, state);
	if (isNews) {
		await applySubscription(trx, {organizationId, state, by: byGateway, now, action: 'UPDATE'});
	}

	if (remote.plan === null) {
		const reason = `The price ${remote.priceId} belongs to no plan; the plan stays ${row.plan}.`;
		services.log.error({organizationId, priceId: remote.priceId}, 'a subscription has a price that belongs to no plan');
		return {outcome: 'REVIEW', reason, ...about};
	}

	return isNews
		? {outcome: 'APPLIED', reason: `The subscription is ${state.status} on ${state.plan}.`, ...about}
		: {outcome: 'IGNORED', reason: 'The subscription is already up to date.', ...about};
};

/**
 * Writes what the gateway says of a subscription, in the caller's transaction with organization and row locked
 * (contract/stripe 5): duplicates and disorder end in the same row.
 * @param paid invoices that show what was paid for it, the one that the event tells of first.
 * @throws where nothing here is what it could belong to: the gateway sends it again, and somebody sees it in the log.
 */
export const projectSubscription = async (
	place: Place,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<Verdict> => {
	const {trx, organizationId} = place;
	const row = await createSubscriptionStore(trx).lockOf(organizationId);
	if (row?.gatewaySubscriptionId === remote.id) {
		return project(place, row, remote, paid);
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
		// What it took before it was replaced stays on record, however late we are told of it.
		await recordStripeInvoices(place, paid, remote.plan ?? attempt.plan);
		return {outcome: 'IGNORED', reason: 'The subscription has been replaced since.', ...about};
	}

	if (remote.status === 'CANCELED' && (attempt.status === 'REVIEW' || attempt.status === 'FAILED')) {
		return settleEnded(place, {remote, attempt, paid});
	}

	// It was not when it was looked at, before this transaction: the next delivery ends it.
	if (isSecond(row, remote, attempt)) {
		throw new Error(`the organization has since had another subscription: ${remote.id}`);
	}

	return activate(place, row, {remote, attempt, paid});
};

import type Stripe from 'stripe';
import {applySubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import type {Subscription} from '../subscription.ts';
import type {RemoteSubscription} from './read-subscription.ts';
import {recordStripeInvoices} from './record-invoice.ts';
import {byGateway, type Place, stateFrom} from './subscription-state.ts';

type Payment = {remote: RemoteSubscription; attempt: BillingAttempt; paid: Stripe.Invoice[]};

/** Whether what was paid is not what was asked for. A price that the plans file has given up since still counts. */
const isOtherPrice = ({plan, priceId}: RemoteSubscription, attempt: BillingAttempt): boolean =>
	priceId !== attempt.priceId || (plan !== null && plan !== attempt.plan);

/**
 * A subscription that was never activated and has ended: nothing is given for it any more. What it took is on record for
 * somebody to look at, whichever of its invoices we are told of first. One whose payment was given back names none.
 */
export const settleEnded = async (place: Place, {attempt, paid}: Payment): Promise<Verdict> => {
	const {services, trx, organizationId, now} = place;
	const {id, status, transactionId, plan} = attempt;
	const about = {organizationId, attemptId: id};
	const attempts = createAttemptStore(trx);
	const [first] = paid;
	if (first === undefined && status !== 'FAILED' && status !== 'REVIEW') {
		await attempts.update(organizationId, id, {status: 'FAILED', lastError: 'The payment failed'}, now);
		return {outcome: 'APPLIED', reason: 'The first payment failed; the subscription stays as it is.', ...about};
	}

	if (first === undefined || (status === 'REVIEW' && transactionId === null)) {
		return {outcome: 'IGNORED', reason: 'The subscription has ended, and was never activated.', ...about};
	}

	await recordStripeInvoices(place, paid, plan);
	if (status === 'REVIEW') {
		return {outcome: 'IGNORED', reason: 'It was paid and has ended; the invoice is kept.', ...about};
	}

	const reason = 'It was paid and ended before the event arrived; nothing is activated.';
	services.log.error(about, reason);
	const changes = {status: 'REVIEW', transactionId: first.id ?? null, lastError: reason} as const;
	await attempts.update(organizationId, id, changes, now);
	return {outcome: 'REVIEW', reason, ...about};
};

/**
 * A first payment: what the attempt asked for was paid, so the row becomes active (contract/billing 8). An
 * attempt that was superseded, or given up because the gateway did not answer, counts like an open one: its money was
 * taken, and the organization has nothing else.
 * @param row null where we died before it was written.
 */
export const activate = async (place: Place, row: Subscription | null, payment: Payment): Promise<Verdict> => {
	const {services, trx, organizationId, now, superseded} = place;
	const {remote, attempt, paid} = payment;
	const about = {organizationId, attemptId: attempt.id};
	if (remote.status === 'CANCELED' || remote.isExpired) {
		return settleEnded(place, payment);
	}

	if (remote.status === 'INACTIVE' || paid.length === 0) {
		return {outcome: 'IGNORED', reason: 'The subscription is not paid yet.', ...about};
	}

	const attempts = createAttemptStore(trx);
	if (isOtherPrice(remote, attempt)) {
		const reason = `The price ${remote.priceId} was paid instead of ${attempt.priceId}; nothing is activated.`;
		services.log.error({...about, priceId: remote.priceId}, 'a paid price differs from the requested one');
		await attempts.update(organizationId, attempt.id, {status: 'REVIEW', lastError: reason}, now);
		return {outcome: 'REVIEW', reason, ...about};
	}

	await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: paid[0]?.id ?? null}, now);
	superseded.push(...(await attempts.supersedeOpen(organizationId, attempt.id, now)));
	await recordStripeInvoices(place, paid, attempt.plan);
	const state = stateFrom(remote, {plan: attempt.plan, scheduledPlan: null, pastDueAt: null}, now);
	await applySubscription(trx, {
		organizationId,
		state: {
			...state,
			anchorAt: null,
			gatewayCustomerId: remote.customerId ?? row?.gatewayCustomerId ?? null,
		},
		by: byGateway,
		now,
		action: 'ACTIVATE',
	});
	return {outcome: 'APPLIED', reason: `The subscription is ${state.status} on ${attempt.plan}.`, ...about};
};

import type Stripe from 'stripe';
import {applySubscription} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Decision} from '../gateway-event-store.ts';
import {createInvoiceStore, type NewInvoice} from '../invoice-store.ts';
import {hasValues, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {isSecond, wasOpenedHere} from './end-orphan.ts';
import {byStripe, type Projection, planOfPrice, type RemoteSubscription, stateFrom} from './read-subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** The last line has the period that was bought; a proration's credit precedes it. */
const toInvoice = (invoice: Stripe.Invoice): Omit<NewInvoice, 'organizationId' | 'plan' | 'paidAt'> => {
	const line = invoice.lines.data.at(-1);
	return {
		gateway: 'GATEWAY_A',
		gatewayInvoiceId: invoice.id ?? '',
		number: invoice.number ?? invoice.id ?? '',
		amount: invoice.amount_paid,
		currency: 'USD',
		periodStart: line === undefined ? null : dateOf(line.period.start),
		periodEnd: line === undefined ? null : dateOf(line.period.end),
		hostedUrl: invoice.hosted_invoice_url ?? null,
		pdfUrl: invoice.invoice_pdf ?? null,
	};
};

/** Records paid invoices, each once. @param plan the plan of those whose price belongs to none. */
const recordStripeInvoices = async (
	{services, trx, organizationId, now}: Projection,
	invoices: Stripe.Invoice[],
	plan: string,
): Promise<void> => {
	for (const invoice of invoices) {
		const priceId = idOf(invoice.lines.data.at(-1)?.pricing?.price_details?.price);
		const {paid_at: paidAt} = invoice.status_transitions;
		await createInvoiceStore(trx).insert(
			{
				...toInvoice(invoice),
				organizationId,
				plan: planOfPrice(services.config.plans, priceId) ?? plan,
				paidAt: paidAt === null ? now : dateOf(paidAt),
			},
			now,
		);
	}
};

const UPGRADE = 'subscription_update';

/**
 * Settles upgrades: a paid invoice makes its attempt PAID, a void one EXPIRED. An attempt whose answer was lost has no
 * invoice, and is found by its plan. @returns the attempt that was paid.
 */
const settleUpgrades = async (
	{trx, organizationId, now}: Projection,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<string | null> => {
	const attempts = createAttemptStore(trx);
	let settled: string | null = null;
	for (const {id, billing_reason: reason} of paid) {
		const isNew = reason === UPGRADE && id && (await attempts.findByTransaction('GATEWAY_A', id)) === null;
		const attempt = isNew ? await attempts.lockUpgrade(organizationId, {invoiceId: id, plan: remote.plan}) : null;
		if (isNew && attempt !== null) {
			await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: id}, now);
			settled = attempt.id;
		}
	}

	const {latestInvoice: latest} = remote;
	if (latest?.id && latest.status === 'void') {
		const attempt = await attempts.lockByRef('GATEWAY_A', latest.id);
		if (attempt?.status === 'OPEN') {
			await attempts.update(organizationId, attempt.id, {status: 'EXPIRED'}, now);
		}
	}

	return settled;
};

type Payment = {remote: RemoteSubscription; attempt: BillingAttempt; paid: Stripe.Invoice[]};

/** Whether another price was paid than the attempt asked for. A price since removed from the plans file counts. */
const isOtherPrice = ({plan, priceId}: RemoteSubscription, attempt: BillingAttempt): boolean =>
	priceId !== attempt.priceId || (plan !== null && plan !== attempt.plan);

/**
 * Settles a subscription that ended before it was activated. It grants nothing. A payment is recorded for review,
 * whichever invoice is reported first; a REVIEW attempt without a transaction was refunded.
 */
const settleEnded = async (context: Projection, {attempt, paid}: Payment): Promise<Decision> => {
	const {services, trx, organizationId, now} = context;
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

	await recordStripeInvoices(context, paid, plan);
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
 * Activates the subscription after its first payment (contract/billing 8). A superseded or failed attempt counts like an
 * open one: its money was taken, and the organization has no other subscription.
 * @param row null if the process died before it was written.
 */
const activate = async (context: Projection, row: Subscription | null, payment: Payment): Promise<Decision> => {
	const {services, trx, organizationId, now, superseded} = context;
	const {remote, attempt, paid} = payment;
	const about = {organizationId, attemptId: attempt.id};
	if (remote.status === 'CANCELED' || remote.isExpired) {
		return settleEnded(context, payment);
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
	await recordStripeInvoices(context, paid, attempt.plan);
	const state = stateFrom(remote, {plan: attempt.plan, scheduledPlan: null, pastDueAt: null}, now);
	await applySubscription(trx, {
		organizationId,
		state: {
			...state,
			anchorAt: null,
			gatewayCustomerId: remote.customerId ?? row?.gatewayCustomerId ?? null,
		},
		by: byStripe,
		now,
		action: 'ACTIVATE',
	});
	return {outcome: 'APPLIED', reason: `The subscription is ${state.status} on ${attempt.plan}.`, ...about};
};

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
	if (attempt === null && (await wasOpenedHere(trx, organizationId, remote.attemptId))) {
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

	// The subscription became a second one during this transaction; the next delivery ends it.
	if (isSecond(row, remote, attempt)) {
		throw new Error(`the organization has since had another subscription: ${remote.id}`);
	}

	return activate(context, row, {remote, attempt, paid});
};

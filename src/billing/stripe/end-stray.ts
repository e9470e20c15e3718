import type Stripe from 'stripe';
import type {Db} from '../../db/db.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import type {Services} from '../../services.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {isPaid, type RemoteSubscription} from './read-subscription.ts';
import {ask, askOrRefusal, idOf} from './stripe-client.ts';

/** Whether a subscription that was paid would be the organization's second one. */
export const isSecond = (
	row: Subscription | null,
	{id, status, latestInvoice}: RemoteSubscription,
	attempt: BillingAttempt | null,
): boolean => {
	if (row === null || !isLive(row) || row.gatewaySubscriptionId === id || attempt === null) {
		return false;
	}

	// What was the organization's once has been replaced since; what ops set gives way to what was asked for after it.
	if (attempt.status === 'PAID' || (row.gateway === 'MANUAL' && attempt.status === 'OPEN')) {
		return false;
	}

	return status === 'CANCELED' ? isPaid(latestInvoice) && attempt.status !== 'REVIEW' : status !== 'INACTIVE';
};

/** Whether we opened the checkout of an organization that is gone: its audit records are what is left of it. */
export const wasOurs = async (db: Db, organizationId: string, attemptId: string | null): Promise<boolean> => {
	const rows: unknown[] = await db('audit_log')
		.where({organization_id: organizationId, entity_type: 'BillingAttempt', entity_id: attemptId})
		.limit(1)
		.select('id');
	return rows.length > 0;
};

/** A subscription that must not run: why, and whose attempt it came from where the organization still is. */
export type Stray = {why: string; organizationId: string | null; attemptId: string | null};

/** Why a subscription must not run, or null where it may. */
const strayOf = async (
	{db}: Pick<Services, 'db'>,
	organizationId: string,
	remote: RemoteSubscription,
): Promise<Stray | null> => {
	const {attemptId, status} = remote;
	if ((await createOrganizationStore(db).findById(organizationId)) === null) {
		const runs = status === 'ACTIVE' || status === 'PAST_DUE';
		return runs && (await wasOurs(db, organizationId, attemptId))
			? {why: 'The organization was deleted', organizationId: null, attemptId: null}
			: null;
	}

	const row = await createSubscriptionStore(db).findOf(organizationId);
	const attempt = attemptId === null ? null : await createAttemptStore(db).find(organizationId, attemptId);
	return isSecond(row, remote, attempt)
		? {why: 'The organization already has a subscription', organizationId, attemptId}
		: null;
};

/** Most invoices of a subscription that nobody used. */
const MOST_INVOICES = 100;

/**
 * Gives back whatever a subscription took: a renewal too, where we are told late. @returns what became of it, as a
 * clause. @throws 502.
 */
const refund = async (stripe: Stripe, {id}: RemoteSubscription): Promise<string> => {
	const {data} = await ask(stripe.invoices.list({subscription: id, status: 'paid', limit: MOST_INVOICES}));
	const paid = data.filter((invoice) => invoice.amount_paid > 0);
	if (paid.length === 0) {
		return 'nothing was paid';
	}

	const intents: string[] = [];
	for (const invoice of paid) {
		const payments = await ask(stripe.invoicePayments.list({invoice: invoice.id ?? '', status: 'paid'}));
		intents.push(...payments.data.flatMap(({payment}) => idOf(payment.payment_intent) ?? []));
	}

	const refusals: string[] = [];
	for (const intent of intents) {
		const call = stripe.refunds.create({payment_intent: intent}, {idempotencyKey: `refund:${intent}`});
		const refusal = await askOrRefusal(call);
		if (refusal !== null && refusal.code !== 'charge_already_refunded') {
			refusals.push(refusal.code);
		}
	}

	if (intents.length === 0) {
		refusals.push('no payment was found');
	}

	return refusals.length === 0
		? 'its payment was refunded'
		: `its payment could not be refunded (${refusals.join(', ')}); refund it by hand`;
};

/**
 * Ends a subscription that must not run, and gives its payment back, before anything is written: a failure leaves the
 * event for the gateway's next delivery (contract/billing 9). The money first, because a subscription that has
 * ended looks as if that had been done. @returns null where it may run. @throws 502.
 */
export const endStray = async (
	services: Services,
	stripe: Stripe,
	organizationId: string,
	remote: RemoteSubscription,
): Promise<Stray | null> => {
	const stray = await strayOf(services, organizationId, remote);
	if (stray === null) {
		return null;
	}

	const money = await refund(stripe, remote);
	if (remote.status !== 'CANCELED') {
		await askOrRefusal(stripe.subscriptions.cancel(remote.id, {invoice_now: false, prorate: false}));
	}

	const why = `${stray.why}: this one was canceled, and ${money}.`;
	services.log.error({organizationId, gatewaySubscriptionId: remote.id}, why);
	return {...stray, why};
};

/** Writes down what `endStray` did, in the transaction that notes the event. */
export const settleStray = async (trx: Db, {why, organizationId, attemptId}: Stray, now: Date): Promise<Verdict> => {
	if (organizationId !== null && attemptId !== null) {
		await createAttemptStore(trx).update(organizationId, attemptId, {status: 'REVIEW', lastError: why}, now);
	}

	return {outcome: 'REVIEW', reason: why, organizationId, attemptId};
};

import type Stripe from 'stripe';
import type {Db} from '../../../platform/db/db.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {BillingServices} from '../gateway.ts';
import type {Decision} from '../gateway-event-store.ts';
import {isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {isPaid, type RemoteSubscription} from './read-subscription.ts';
import {call, callOrRefusal, idOf} from './stripe-client.ts';

/** Whether a paid subscription would be the organization's second one. */
export const isSecond = (
	row: Subscription | null,
	{id, status, latestInvoice}: RemoteSubscription,
	attempt: BillingAttempt | null,
): boolean => {
	if (row === null || !isLive(row) || row.gatewaySubscriptionId === id || attempt === null) {
		return false;
	}

	// A PAID attempt was replaced since; a plan that ops set gives way to a checkout opened after it.
	if (attempt.status === 'PAID' || (row.gateway === 'MANUAL' && attempt.status === 'OPEN')) {
		return false;
	}

	return status === 'CANCELED' ? isPaid(latestInvoice) && attempt.status !== 'REVIEW' : status !== 'INACTIVE';
};

/** Whether Oplink opened the checkout of a deleted organization, as its audit records show. */
export const wasOpenedHere = async (db: Db, organizationId: string, attemptId: string | null): Promise<boolean> => {
	const rows: unknown[] = await db('audit_log')
		.where({organization_id: organizationId, entity_type: 'BillingAttempt', entity_id: attemptId})
		.limit(1)
		.select('id');
	return rows.length > 0;
};

/** Whether an ended subscription needs no refund: its organization had activated one, or it was refunded before. */
const isSettled = async (db: Db, organizationId: string, id: string): Promise<boolean> => {
	const activation = {organization_id: organizationId, entity_type: 'Subscription', action: 'ACTIVATE'};
	const refund = {gateway: 'GATEWAY_A', reference: id, outcome: 'REVIEW'};
	return Boolean(
		(await db('audit_log').where(activation).first('id')) ?? (await db('gateway_events').where(refund).first('id')),
	);
};

/** A subscription that must not run, or was never used, with the reason, and its attempt if the organization still exists. */
type Orphan = {why: string; organizationId: string | null; attemptId: string | null};

const findOrphan = async (db: Db, organizationId: string, remote: RemoteSubscription): Promise<Orphan | null> => {
	const {id, attemptId, status} = remote;
	if ((await createOrganizationStore(db).findById(organizationId)) === null) {
		const isOpen = isLive(remote) || (status === 'CANCELED' && !(await isSettled(db, organizationId, id)));
		return isOpen && (await wasOpenedHere(db, organizationId, attemptId))
			? {why: 'The organization was deleted', organizationId: null, attemptId: null}
			: null;
	}

	const row = await createSubscriptionStore(db).findOf(organizationId);
	const attempt = attemptId === null ? null : await createAttemptStore(db).find(organizationId, attemptId);
	return isSecond(row, remote, attempt)
		? {why: 'The organization already has a subscription', organizationId, attemptId}
		: null;
};

/** The maximum of invoices refunded for one subscription. */
const MAX_INVOICES = 100;

/** Refunds everything that a subscription took, renewals included. @returns the result as a clause. @throws 502. */
const refundInvoices = async (stripe: Stripe, {id}: RemoteSubscription): Promise<string> => {
	const {data} = await call(stripe.invoices.list({subscription: id, status: 'paid', limit: MAX_INVOICES}));
	const paid = data.filter((invoice) => invoice.amount_paid > 0);
	if (paid.length === 0) {
		return 'nothing was paid';
	}

	const intents: string[] = [];
	for (const invoice of paid) {
		const payments = await call(stripe.invoicePayments.list({invoice: invoice.id ?? '', status: 'paid'}));
		intents.push(...payments.data.flatMap(({payment}) => idOf(payment.payment_intent) ?? []));
	}

	const refusals: string[] = intents.length === 0 ? ['no payment was found'] : [];
	for (const intent of intents) {
		const refund = stripe.refunds.create({payment_intent: intent}, {idempotencyKey: `refund:${intent}`});
		const refusal = await callOrRefusal(refund);
		if (refusal !== null && refusal.code !== 'charge_already_refunded') {
			refusals.push(refusal.code);
		}
	}

	return refusals.length === 0
		? 'its payment was refunded'
		: `its payment could not be refunded (${refusals.join(', ')}); refund it by hand`;
};

/**
 * Ends a subscription that must not run and refunds it, before anything is written: after a failure the gateway delivers
 * the event again (contract/billing 9). The refund comes first, because an ended subscription is not refunded again.
 * @returns null if the subscription may run. @throws 502.
 */
export const endOrphan = async (
	{db, log, stripe}: Pick<BillingServices, 'db' | 'log'> & {stripe: Stripe},
	organizationId: string,
	remote: RemoteSubscription,
): Promise<Orphan | null> => {
	const orphan = await findOrphan(db, organizationId, remote);
	if (orphan === null) {
		return null;
	}

	const refund = await refundInvoices(stripe, remote);
	if (remote.status !== 'CANCELED') {
		await callOrRefusal(stripe.subscriptions.cancel(remote.id, {invoice_now: false, prorate: false}));
	}

	const why = `${orphan.why}: this one was canceled, and ${refund}.`;
	log.error({organizationId, gatewaySubscriptionId: remote.id}, why);
	return {...orphan, why};
};

/** Stores the outcome of `endOrphan`, in the transaction that records the event. */
export const settleOrphan = async (trx: Db, {why, organizationId, attemptId}: Orphan, now: Date): Promise<Decision> => {
	if (organizationId !== null && attemptId !== null) {
		await createAttemptStore(trx).update(organizationId, attemptId, {status: 'REVIEW', lastError: why}, now);
	}

	return {outcome: 'REVIEW', reason: why, organizationId, attemptId};
};

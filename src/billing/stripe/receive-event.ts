import type Stripe from 'stripe';
import type {Db} from '../../db/db.ts';
import {withLease} from '../../db/lease.ts';
import {invalidWebhookSignature} from '../../errors.ts';
import type {Services} from '../../services.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {billingLease} from '../checkout.ts';
import type {GatewayEvent, IncomingEvent, Verdict} from '../gateway-event-store.ts';
import {type Apply, receiveEvent} from '../ledger.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {isSecond, projectSubscription} from './project-subscription.ts';
import {isPaid, type RemoteSubscription, readSubscription} from './read-subscription.ts';
import {ask, askFor, askToUndo, idOf} from './stripe-client.ts';

/** What an event of gateway A asks for: to look at a subscription, to close a checkout, or nothing. */
type Meaning =
	| {kind: 'subscription'; id: string; invoice: Stripe.Invoice | null; deleted: Stripe.Subscription | null}
	| {kind: 'expired'; sessionId: string}
	| {kind: 'nothing'; reason: string};

const subscriptionOfInvoice = ({parent}: Stripe.Invoice): string | null =>
	parent?.type === 'subscription_details' ? idOf(parent.subscription_details?.subscription) : null;

/** `facts/providers.md` 3.5: an event is only what makes us look. */
const meaningOf = (event: Stripe.Event): Meaning => {
	const looksAt = (id: string | null, more: {invoice?: Stripe.Invoice; deleted?: Stripe.Subscription} = {}): Meaning =>
		id === null
			? {kind: 'nothing', reason: 'It tells of no subscription.'}
			: {kind: 'subscription', id, invoice: more.invoice ?? null, deleted: more.deleted ?? null};
	switch (event.type) {
		case 'checkout.session.completed':
		case 'checkout.session.async_payment_succeeded':
		case 'checkout.session.async_payment_failed':
			return looksAt(idOf(event.data.object.subscription));
		case 'checkout.session.expired':
			return {kind: 'expired', sessionId: event.data.object.id};
		case 'customer.subscription.created':
		case 'customer.subscription.updated':
			return looksAt(event.data.object.id);
		case 'customer.subscription.deleted':
			return looksAt(event.data.object.id, {deleted: event.data.object});
		case 'invoice.paid':
			return looksAt(subscriptionOfInvoice(event.data.object), {invoice: event.data.object});
		case 'invoice.payment_failed':
		case 'invoice.payment_action_required':
			return looksAt(subscriptionOfInvoice(event.data.object));
		default:
			return {kind: 'nothing', reason: `Events of the type ${event.type} change nothing.`};
	}
};

const verdict =
	(outcome: Verdict['outcome'], reason: string): Apply =>
	async () => ({outcome, reason});

const closeExpired = async (trx: Db, sessionId: string, now: Date): Promise<Verdict> => {
	const attempts = createAttemptStore(trx);
	const attempt = await attempts.lockByRef('GATEWAY_A', sessionId);
	if (attempt?.status !== 'OPEN') {
		return {outcome: 'IGNORED', reason: 'No open attempt has this checkout.', attemptId: attempt?.id ?? null};
	}

	const {organizationId, id: attemptId} = attempt;
	await attempts.update(organizationId, attemptId, {status: 'EXPIRED'}, now);
	return {outcome: 'APPLIED', reason: 'The checkout has expired.', organizationId, attemptId};
};

/** Whose subscription it is: as it was told at the checkout, or as a row has it. Null for what is not ours. */
const organizationOf = async ({db}: Services, remote: RemoteSubscription): Promise<string | null> =>
	remote.organizationId ??
	(await createSubscriptionStore(db).findByGatewayId('GATEWAY_A', remote.id))?.organizationId ??
	null;

/**
 * A second paid subscription is ended and its payment given back, before anything is written: a failure leaves the
 * event for the gateway's next delivery (`facts/providers.md` 5.5). @returns whether it was one.
 */
const undoSecond = async (
	{db}: Services,
	stripe: Stripe,
	organizationId: string,
	remote: RemoteSubscription,
): Promise<boolean> => {
	const row = await createSubscriptionStore(db).findOf(organizationId);
	const attempt =
		remote.attemptId === null ? null : await createAttemptStore(db).find(organizationId, remote.attemptId);
	const {latestInvoice} = remote;
	if (!isSecond(row, remote, attempt) || remote.status === 'INACTIVE' || attempt?.status === 'REVIEW') {
		return false;
	}

	if (remote.status !== 'CANCELED') {
		await askToUndo(stripe.subscriptions.cancel(remote.id, {invoice_now: false, prorate: false}));
	}

	if (isPaid(latestInvoice) && latestInvoice.amount_paid > 0) {
		const payments = await ask(stripe.invoicePayments.list({invoice: latestInvoice.id ?? '', status: 'paid'}));
		for (const {payment} of payments.data) {
			const intent = idOf(payment.payment_intent);
			if (intent !== null) {
				await askToUndo(stripe.refunds.create({payment_intent: intent}, {idempotencyKey: `refund:${intent}`}));
			}
		}
	}

	return true;
};

type Deps = {services: Services; stripe: Stripe};

/**
 * Runs what an event asks for. The subscription is fetched and written under the organization's billing lease, so that
 * what was fetched first is written first, also against the routes.
 * @param run takes what applies the event, and runs it in a transaction.
 */
const understand = async <T>(
	{services, stripe}: Deps,
	event: Stripe.Event,
	run: (apply: Apply) => Promise<T>,
): Promise<T> => {
	const meaning = meaningOf(event);
	const {clock, config} = services;
	if (meaning.kind === 'nothing') {
		return run(verdict('IGNORED', meaning.reason));
	}

	if (meaning.kind === 'expired') {
		return run((trx) => closeExpired(trx, meaning.sessionId, clock.now()));
	}

	const fetchRemote = async (): Promise<RemoteSubscription | null> => {
		const found = await askFor(stripe.subscriptions.retrieve(meaning.id, {expand: ['latest_invoice']}));
		const remote = found ?? meaning.deleted;
		return remote === null ? null : readSubscription(config.plans, remote);
	};
	const seen = await fetchRemote();
	const organizationId = seen === null ? null : await organizationOf(services, seen);
	if (organizationId === null) {
		return run(verdict('IGNORED', 'The subscription is not one of ours.'));
	}

	return withLease(services, billingLease(organizationId), async () => {
		const remote = await fetchRemote();
		if (remote === null) {
			return run(verdict('IGNORED', 'The subscription is gone.'));
		}

		const undone = await undoSecond(services, stripe, organizationId, remote);
		const invoice = meaning.invoice ?? remote.latestInvoice;
		return run((trx) =>
			projectSubscription({services, trx, organizationId, now: clock.now()}, remote, {invoice, undone}),
		);
	});
};

/** The verified event of a delivery. @throws 400 whatever is wrong with the signature. */
const verified = ({services, stripe}: Deps, rawBody: Buffer, signature: string | undefined): Stripe.Event => {
	const secret = services.config.stripe?.webhookSecret ?? null;
	if (secret === null || signature === undefined) {
		throw invalidWebhookSignature();
	}

	try {
		const now = services.clock.now().getTime();
		return stripe.webhooks.constructEvent(rawBody, signature, secret, undefined, undefined, now);
	} catch {
		throw invalidWebhookSignature();
	}
};

/** Receives a delivery of gateway A. @throws 400 for a bad signature; 5xx where the gateway is to send it again. */
export const receiveStripeEvent = async (
	deps: Deps,
	{rawBody, signature}: {rawBody: Buffer; signature: string | undefined},
): Promise<GatewayEvent> => {
	const event = verified(deps, rawBody, signature);
	const meaning = meaningOf(event);
	const incoming: IncomingEvent = {
		gateway: 'GATEWAY_A',
		eventKey: event.id,
		type: event.type,
		reference: meaning.kind === 'subscription' ? meaning.id : null,
		payload: rawBody.toString('utf8'),
	};
	return understand(deps, event, (apply) => receiveEvent(deps.services, incoming, apply));
};

/** Runs an event of the ledger again. */
export const reapplyStripeEvent = (
	deps: Deps,
	event: GatewayEvent,
	run: (apply: Apply) => Promise<GatewayEvent>,
): Promise<GatewayEvent> => understand(deps, JSON.parse(event.payload) as Stripe.Event, run);

import type Stripe from 'stripe';
import type {Db} from '../../../platform/db/db.ts';
import {withLease} from '../../../platform/db/lease.ts';
import {invalidWebhookSignature} from '../../../platform/errors.ts';
import type {Metrics} from '../../../platform/metrics/metrics.ts';
import {billingLease} from '../apply-subscription.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {BillingServices} from '../gateway.ts';
import {createGatewayEventStore, type Decision, type GatewayEvent, type IncomingEvent} from '../gateway-event-store.ts';
import {type Apply, decision, type LedgerEntry, recordEvent} from '../ledger.ts';
import {closeSuperseded} from '../new-attempt.ts';
import {hasValues, isLive, type Subscription} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {endOrphan, settleOrphan} from './end-orphan.ts';
import {type Meaning, meaningOf} from './event-meaning.ts';
import {projectSubscription} from './project-subscription.ts';
import {isPaid, paidOnes, type RemoteSubscription, readSubscription} from './read-subscription.ts';
import {call, callOrNull, idOf, isName} from './stripe-client.ts';

type Deps = BillingServices & {stripe: Stripe};

/** The checkout is found by its id or, if the answer with the id was lost, by the attempt that it names. */
const closeExpired = async (
	trx: Db,
	{sessionId, attemptId: named}: Extract<Meaning, {kind: 'expired'}>,
	now: Date,
): Promise<Decision> => {
	const attempts = createAttemptStore(trx);
	const attempt =
		(await attempts.lockByRef('GATEWAY_A', sessionId)) ??
		(named === null ? null : await attempts.lockById('GATEWAY_A', named));
	if (attempt === null) {
		return {outcome: 'IGNORED', reason: 'Oplink did not create this checkout.'};
	}

	const {organizationId, id: attemptId, status} = attempt;
	if (status !== 'OPEN') {
		return {outcome: 'IGNORED', reason: `The attempt is already ${status}.`, organizationId, attemptId};
	}

	await attempts.update(organizationId, attemptId, {status: 'EXPIRED'}, now);
	return {outcome: 'APPLIED', reason: 'The checkout has expired.', organizationId, attemptId};
};

/** The subscription as it is now, with its latest invoice and its schedule; null if Stripe does not know it. */
const fetchSubscription = async (stripe: Stripe, id: string): Promise<Stripe.Subscription | null> => {
	const found = await callOrNull(stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']}));
	const schedule = idOf(found?.schedule);
	if (found === null || schedule === null) {
		return found;
	}

	return {...found, schedule: (await callOrNull(stripe.subscriptionSchedules.retrieve(schedule))) ?? schedule};
};

/**
 * The invoices that prove the payment: the event's, the latest one, and if that is unpaid the newest paid one. So an
 * unpaid renewal or upgrade does not hide an earlier payment. A row that grants the same already needs no proof.
 * @throws 502.
 */
const findPaid = async (
	stripe: Stripe,
	remote: RemoteSubscription,
	{row, invoice}: {row: Subscription | null; invoice: Stripe.Invoice | null},
): Promise<Stripe.Invoice[]> => {
	const {latestInvoice, status, plan, currentPeriodStart} = remote;
	const known = [invoice, latestInvoice];
	const isGranted = row !== null && hasValues(row, {plan: plan ?? row.plan, status, currentPeriodStart});
	if (!isLive(remote) || isPaid(latestInvoice) || isGranted) {
		return paidOnes(known);
	}

	const {data} = await call(stripe.invoices.list({subscription: remote.id, status: 'paid', limit: 1}));
	return paidOnes([...known, ...data]);
};

/** `superseded` takes the checkouts to close at the gateway after the transaction. */
type Target = {row: Subscription | null; organizationId: string; superseded: BillingAttempt[]};

/** Decides the write that makes the row equal to Stripe's subscription. */
const syncSubscription = async (
	deps: Deps,
	{id, invoice, deleted}: Extract<Meaning, {kind: 'subscription'}>,
	{row, organizationId, superseded}: Target,
): Promise<Apply> => {
	const {stripe, clock, config} = deps;
	const found = (await fetchSubscription(stripe, id)) ?? deleted;
	const remote = found === null ? null : readSubscription(config.plans, found);
	if (remote === null) {
		return decision('IGNORED', 'The gateway does not know the subscription.');
	}

	const orphan = await endOrphan(deps, organizationId, remote);
	if (orphan !== null) {
		return (trx) => settleOrphan(trx, orphan, clock.now());
	}

	const paid = await findPaid(stripe, remote, {row, invoice});
	return (trx) =>
		projectSubscription({services: deps, trx, organizationId, now: clock.now(), superseded}, remote, paid);
};

/**
 * Decides the change that an event makes, asking Stripe before the transaction, and records it. The organization's billing lease
 * covers both: concurrent events and routes write in the order in which they read.
 * @throws 5xx if Stripe should deliver the event again.
 */
export const recordStripeEvent = async (deps: Deps, event: Stripe.Event, entry: LedgerEntry): Promise<GatewayEvent> => {
	const meaning = meaningOf(event);
	if (meaning.kind === 'nothing') {
		return recordEvent(deps, entry, decision('IGNORED', meaning.reason));
	}

	if (meaning.kind === 'expired') {
		return recordEvent(deps, entry, (trx) => closeExpired(trx, meaning, deps.clock.now()));
	}

	const row = await createSubscriptionStore(deps.db).findByGatewayId('GATEWAY_A', meaning.id);
	const organizationId = row?.organizationId ?? meaning.organizationId;
	if (organizationId === null) {
		return recordEvent(deps, entry, decision('IGNORED', 'Oplink did not create this subscription.'));
	}

	const superseded: BillingAttempt[] = [];
	const recorded = await withLease(deps, billingLease(organizationId), async () =>
		recordEvent(deps, entry, await syncSubscription(deps, meaning, {row, organizationId, superseded})),
	);
	// Otherwise the change that superseded them was rolled back.
	if (recorded.outcome === 'APPLIED') {
		closeSuperseded(deps, superseded);
	}

	return recorded;
};

/** Stripe sends 80 characters for each signing secret. */
const MAX_SIGNATURE = 1024;

/** Tolerated difference of the signature's time from ours, in both directions (contract/billing 17). */
const TOLERANCE_SECONDS = 300;

/** The library refuses old signatures only. The last `t` counts, as in the library. */
const isFromTheFuture = (signature: string, now: Date): boolean => {
	const at = Number.parseInt(
		signature
			.split(',')
			.findLast((part) => part.startsWith('t='))
			?.slice(2) ?? '',
		10,
	);
	return at * 1000 > now.getTime() + TOLERANCE_SECONDS * 1000;
};

const isEvent = (value: Partial<Stripe.Event> | null): value is Stripe.Event =>
	isName(value?.id) && isName(value?.type);

/** The verified event of a delivery. @throws 400 for an invalid signature or an invalid event. */
const verified = ({stripe, config, clock}: Deps, rawBody: Buffer, signature: unknown): Stripe.Event => {
	const secret = config.stripe?.webhookSecret ?? null;
	const now = clock.now();
	const isReadable = typeof signature === 'string' && signature.length <= MAX_SIGNATURE;
	if (secret === null || !isReadable || isFromTheFuture(signature, now)) {
		throw invalidWebhookSignature();
	}

	let event: Stripe.Event;
	try {
		event = stripe.webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_SECONDS, undefined, now.getTime());
	} catch {
		throw invalidWebhookSignature();
	}

	if (!isEvent(event)) {
		throw invalidWebhookSignature();
	}

	return event;
};

/**
 * Receives a delivery of Stripe. A repetition is counted before Stripe is asked anything.
 * @throws 400 for an invalid signature; 5xx if Stripe should deliver the event again.
 */
export const receiveStripeEvent = async (
	deps: Deps & {metrics: Metrics},
	{rawBody, signature}: {rawBody: Buffer; signature: unknown},
): Promise<GatewayEvent> => {
	const event = verified(deps, rawBody, signature);
	const {created} = event as {created?: unknown};
	deps.metrics.webhook('gateway_a', typeof created === 'number' ? new Date(created * 1000) : null);
	const meaning = meaningOf(event);
	const delivery: IncomingEvent = {
		gateway: 'GATEWAY_A',
		eventKey: event.id,
		type: event.type,
		reference: meaning.kind === 'subscription' ? meaning.id : null,
		payload: rawBody.toString('utf8'),
	};
	return (
		(await createGatewayEventStore(deps.db).countRepetition(delivery)) ?? recordStripeEvent(deps, event, {delivery})
	);
};

import type Stripe from 'stripe';
import type {Db} from '../../db/db.ts';
import {withLease} from '../../db/lease.ts';
import {invalidWebhookSignature} from '../../errors.ts';
import type {Services} from '../../services.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import {billingLease} from '../billing-lease.ts';
import type {GatewayEvent, IncomingEvent, Verdict} from '../gateway-event-store.ts';
import {type Apply, countRepetition, receiveEvent} from '../ledger.ts';
import {closeSuperseded} from '../new-attempt.ts';
import {isLive, type Subscription, saysTheSame} from '../subscription.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {endStray, settleStray} from './end-stray.ts';
import {type Meaning, meaningOf} from './event-meaning.ts';
import {projectSubscription} from './project-subscription.ts';
import {isPaid, paidOnes, type RemoteSubscription, readSubscription} from './read-subscription.ts';
import {ask, askFor, idOf, isName} from './stripe-client.ts';

type Deps = {services: Services; stripe: Stripe};

/** Takes what applies an event, and runs it in a transaction. */
type Run = (apply: Apply) => Promise<GatewayEvent>;

const verdict =
	(outcome: Verdict['outcome'], reason: string): Apply =>
	async () => ({outcome, reason});

/** A checkout is known by its id, and one whose answer was lost by the attempt that it names. */
const closeExpired = async (
	trx: Db,
	{sessionId, attemptId: named}: Extract<Meaning, {kind: 'expired'}>,
	now: Date,
): Promise<Verdict> => {
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

/** What the gateway says of a subscription now, with its latest invoice and its schedule; null where it knows none. */
const fetchSubscription = async (stripe: Stripe, id: string): Promise<Stripe.Subscription | null> => {
	const found = await askFor(stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']}));
	const schedule = idOf(found?.schedule);
	if (found === null || schedule === null) {
		return found;
	}

	return {...found, schedule: (await askFor(stripe.subscriptionSchedules.retrieve(schedule))) ?? schedule};
};

/** Whether a row gives what the gateway says already, so that nothing has to show that it was paid. */
const givesTheSame = (row: Subscription, {plan, status, currentPeriodStart}: RemoteSubscription): boolean =>
	saysTheSame(row, {plan: plan ?? row.plan, status, currentPeriodStart});

/**
 * What shows that a subscription was paid for: the event's invoice and its latest one, and where that is not paid, the
 * newest that is. So what is owed by now, a renewal or an upgrade, does not hide what was paid before it, and nothing
 * that was never paid looks as if it had been. @throws 502.
 */
const findPaid = async (
	stripe: Stripe,
	remote: RemoteSubscription,
	{row, invoice}: {row: Subscription | null; invoice: Stripe.Invoice | null},
): Promise<Stripe.Invoice[]> => {
	const told = [invoice, remote.latestInvoice];
	if (!isLive(remote) || isPaid(remote.latestInvoice) || (row !== null && givesTheSame(row, remote))) {
		return paidOnes(told);
	}

	const {data} = await ask(stripe.invoices.list({subscription: remote.id, status: 'paid', limit: 1}));
	return paidOnes([...told, ...data]);
};

/**
 * Looks at a subscription. It is fetched and written under the organization's billing lease, so that what was fetched
 * first is written first, also against the routes.
 */
const lookAt = async (
	{services, stripe}: Deps,
	{id, invoice, deleted, organizationId: named}: Extract<Meaning, {kind: 'subscription'}>,
	run: Run,
): Promise<GatewayEvent> => {
	const {db, clock, config} = services;
	const row = await createSubscriptionStore(db).findByGatewayId('GATEWAY_A', id);
	const organizationId = row?.organizationId ?? named;
	if (organizationId === null) {
		return run(verdict('IGNORED', 'Oplink did not create this subscription.'));
	}

	const superseded: BillingAttempt[] = [];
	const event = await withLease(services, billingLease(organizationId), async () => {
		const found = (await fetchSubscription(stripe, id)) ?? deleted;
		const remote = found === null ? null : readSubscription(config.plans, found);
		if (remote === null) {
			return run(verdict('IGNORED', 'The gateway does not know the subscription.'));
		}

		const stray = await endStray(services, stripe, organizationId, remote);
		if (stray !== null) {
			return run((trx) => settleStray(trx, stray, clock.now()));
		}

		const paid = await findPaid(stripe, remote, {row, invoice});
		return run((trx) =>
			projectSubscription({services, trx, organizationId, now: clock.now(), superseded}, remote, paid),
		);
	});
	closeSuperseded(services, superseded);
	return event;
};

/** Runs what an event asks for. @throws 5xx where the gateway is to send it again. */
const understand = (deps: Deps, event: Stripe.Event, run: Run): Promise<GatewayEvent> => {
	const meaning = meaningOf(event);
	switch (meaning.kind) {
		case 'nothing':
			return run(verdict('IGNORED', meaning.reason));
		case 'expired':
			return run((trx) => closeExpired(trx, meaning, deps.services.clock.now()));
		case 'subscription':
			return lookAt(deps, meaning, run);
	}
};

/** The gateway's has 80 characters for each secret that it signs with. */
const LONGEST_SIGNATURE = 1024;

/** How far the time of a signature may be from ours, either way (contract/stripe 4). */
const TOLERANCE_SECONDS = 300;

/** The library refuses what is too old; this is for the other direction. It takes the last `t`, as the library does. */
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

/** The verified event of a delivery. @throws 400 whatever is wrong with the signature, or with what was signed. */
const verified = ({services, stripe}: Deps, rawBody: Buffer, signature: string | undefined): Stripe.Event => {
	const secret = services.config.stripe?.webhookSecret ?? null;
	const now = services.clock.now();
	const isReadable = signature !== undefined && signature.length <= LONGEST_SIGNATURE;
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
 * Receives a delivery of gateway A. A repetition is counted before the gateway is asked anything.
 * @throws 400 for a bad signature; 5xx where the gateway is to send it again.
 */
export const receiveStripeEvent = async (
	deps: Deps,
	{rawBody, signature}: {rawBody: Buffer; signature: string | undefined},
): Promise<GatewayEvent> => {
	const event = verified(deps, rawBody, signature);
	const {created} = event as {created?: unknown};
	deps.services.metrics.webhook('gateway_a', typeof created === 'number' ? new Date(created * 1000) : null);
	const meaning = meaningOf(event);
	const incoming: IncomingEvent = {
		gateway: 'GATEWAY_A',
		eventKey: event.id,
		type: event.type,
		reference: meaning.kind === 'subscription' ? meaning.id : null,
		payload: rawBody.toString('utf8'),
	};
	return (
		(await countRepetition(deps.services, incoming)) ??
		understand(deps, event, (apply) => receiveEvent(deps.services, incoming, apply))
	);
};

/** Runs an event of the ledger again. */
export const reapplyStripeEvent = (deps: Deps, event: GatewayEvent, run: Run): Promise<GatewayEvent> =>
	understand(deps, JSON.parse(event.payload) as Stripe.Event, run);

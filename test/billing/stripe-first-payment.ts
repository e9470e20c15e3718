import {randomUUID} from 'node:crypto';
import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {startedFor} from '../helpers/started.ts';
import {attemptStatuses, attemptsOf, entryOf, everythingOf, ledgerOf} from './_billing-rows.ts';
import {GROWTH} from './_official-stripe.ts';
import {
	checkout,
	DAY,
	deliverAll,
	idsOf,
	newOwner,
	planOf,
	startStripeStage,
	subscribed,
	subscriptionOf,
	takeEvents,
} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

/** A checkout that somebody else's software opened at the same account, and that is paid. */
const payElsewhere = async (metadata: Record<string, string>): Promise<void> => {
	const {stripe: library} = stage.portal.services;
	const customer = await library?.customers.create({email: 'somebody@example.com'});
	const session = await library?.checkout.sessions.create({
		mode: 'subscription',
		customer: customer?.id ?? '',
		line_items: [{price: GROWTH, quantity: 1}],
		metadata,
		subscription_data: {metadata},
		success_url: 'https://elsewhere.example.com',
	});
	stage.stripe.pay(session?.id ?? '');
};

test.serial('duplicate webhook: it is counted, the gateway is asked nothing, and nothing changes', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
	const events = takeEvents(stage);
	await stage.stripe.deliver(stage.portal, ...events);
	const before = await everythingOf(stage, owner);
	const calls = stage.stripe.calls.length;
	const again = await stage.stripe.deliver(stage.portal, ...events, ...events);
	t.deepEqual(new Set(again.map(({status}) => status)), new Set([200]));
	t.is(stage.stripe.calls.length, calls);
	t.deepEqual(await everythingOf(stage, owner), before);
	t.deepEqual(new Set((await ledgerOf(stage, owner)).map(({deliveries}) => deliveries)), new Set([3]));
});

test.serial('two different events for one fact: the second changes nothing and says so', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
	await deliverAll(stage);
	const outcomes = (await ledgerOf(stage, owner)).map(({outcome}) => outcome).toSorted();
	t.deepEqual(outcomes, ['APPLIED', 'IGNORED', 'IGNORED']);
	t.deepEqual(await attemptStatuses(stage, owner), ['PAID']);
	t.is((await everythingOf(stage, owner)).invoices.length, 1);
});

test.serial('out of order: what ended stays ended, whatever is told of it later', async (t) => {
	const owner = await subscribed(stage);
	const {subscription} = await idsOf(stage, owner);
	await stage.portal.services.stripe?.subscriptions.update(subscription, {cancel_at_period_end: true});
	await stage.portal.services.stripe?.subscriptions.cancel(subscription);
	const [updated, deleted] = takeEvents(stage);
	t.truthy(updated && deleted);
	await stage.stripe.deliver(stage.portal, ...(deleted ? [deleted] : []));
	t.like(await subscriptionOf(owner), {status: 'CANCELED', cancelAtPeriodEnd: false});
	await stage.stripe.deliver(stage.portal, ...(updated ? [updated] : []));
	t.like(await subscriptionOf(owner), {status: 'CANCELED', cancelAtPeriodEnd: false});
	t.is(await planOf(owner), 'STARTER');
});

test.serial('webhook before the ids were stored: the attempt that it names is found', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions', status: 500, afterwards: true});
	t.is((await checkout(owner)).status, 502);
	t.deepEqual(await attemptStatuses(stage, owner), ['FAILED']);
	t.is(await subscriptionOf(owner), null);
	const session = [...stage.stripe.account.sessions.keys()].at(-1) ?? '';
	stage.stripe.pay(session);
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'GROWTH'});
	t.deepEqual(await attemptStatuses(stage, owner), ['PAID']);
});

test.serial('activation before any row exists: 5xx and no entry, so that the gateway tells it again', async (t) => {
	await payElsewhere({orgId: randomUUID(), attemptId: randomUUID()});
	t.deepEqual(new Set(await deliverAll(stage)), new Set([500]));
	t.is(await entryOf(stage, stage.stripe.history.at(-1)), undefined);
});

for (const [what, metadata] of [
	['no metadata', {}],
	['metadata of others', {orgId: 'org_1', attemptId: 'a-1'}],
	['an organization alone', {orgId: randomUUID()}],
] as const) {
	test.serial(`foreign object with ${what}: 200, IGNORED, and the gateway is asked nothing`, async (t) => {
		await payElsewhere(metadata);
		const calls = stage.stripe.calls.length;
		t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
		t.is(stage.stripe.calls.length, calls);
		t.like(await entryOf(stage, stage.stripe.history.at(-1)), {outcome: 'IGNORED', organization_id: null});
	});
}

test.serial(
	'payment of a superseded checkout without a subscription: it is honored with the plan it was for',
	async (t) => {
		const owner = await newOwner(stage);
		stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500});
		const first = (await checkout(owner, 'SOLO')).body.sessionId;
		const second = (await checkout(owner, 'GROWTH')).body.sessionId;
		await stage.portal.services.background.settle();
		stage.stripe.pay(first);
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'SOLO'});
		t.deepEqual(await attemptStatuses(stage, owner), ['PAID', 'SUPERSEDED']);
		await stage.portal.services.background.settle();
		t.is(stage.stripe.account.sessions.get(second)?.status, 'expired');
	},
);

test.serial('payment of a superseded checkout with a subscription: it is canceled and refunded, once', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500, times: 2});
	const first = (await checkout(owner, 'SOLO')).body.sessionId;
	const second = (await checkout(owner, 'GROWTH')).body.sessionId;
	await stage.portal.services.background.settle();
	stage.stripe.pay(second);
	await deliverAll(stage);
	await stage.portal.services.background.settle();
	const before = await subscriptionOf(owner);
	stage.stripe.pay(first);
	// The gateway fails between giving the money back and ending the subscription.
	stage.stripe.fail({method: 'DELETE', path: '/subscriptions/:id', status: 500});
	const [event] = stage.stripe.events;
	t.is((await stage.stripe.deliver(stage.portal, ...(event ? [event] : [])))[0]?.status, 502);
	t.deepEqual(await attemptStatuses(stage, owner), ['PAID', 'SUPERSEDED']);
	await stage.stripe.deliver(stage.portal, ...(event ? [event] : []));
	await deliverAll(stage);
	t.deepEqual(await subscriptionOf(owner), before);
	t.deepEqual(await attemptStatuses(stage, owner), ['PAID', 'REVIEW']);
	const charges = stage.stripe.charges.filter(({organizationId}) => organizationId === owner.organization.id);
	t.deepEqual(charges.map(({amount, refunded}) => amount - refunded).toSorted(), [0, 7900]);
	const running = [...stage.stripe.account.subscriptions.values()].filter(
		({metadata, status}) => metadata['orgId'] === owner.organization.id && status === 'active',
	);
	t.is(running.length, 1);
	t.is((await everythingOf(stage, owner)).invoices.length, 1);
});

test.serial('a refund that the gateway refuses is left to the operator, who reads of it in the ledger', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500, times: 2});
	const first = (await checkout(owner, 'SOLO')).body.sessionId;
	stage.stripe.pay((await checkout(owner, 'GROWTH')).body.sessionId);
	await deliverAll(stage);
	await stage.portal.services.background.settle();
	stage.stripe.pay(first);
	stage.stripe.fail({method: 'POST', path: '/refunds', status: 400, code: 'charge_disputed'});
	t.is((await deliverAll(stage))[0], 200);
	const review = (await ledgerOf(stage, owner)).find(({outcome}) => outcome === 'REVIEW');
	t.regex(String(review?.['reason']), /could not be refunded \(charge_disputed\); refund it by hand/);
});

test.serial('amount mismatch: a price that was not asked for activates nothing, and is put to review', async (t) => {
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, 'GROWTH');
	const order = stage.stripe.account.orders.get(body.sessionId);
	if (order !== undefined) {
		order.price = 'price_oplink_solo';
	}

	stage.stripe.pay(body.sessionId);
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	t.like(await subscriptionOf(owner), {status: 'INACTIVE', plan: 'GROWTH'});
	t.is(await planOf(owner), null);
	t.deepEqual(await attemptStatuses(stage, owner), ['REVIEW']);
	t.is((await ledgerOf(stage, owner))[0]?.['outcome'], 'REVIEW');
});

test.serial('a lower total for the right price, as a discount makes, activates', async (t) => {
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, 'SOLO');
	stage.stripe.setPrice('price_oplink_solo', {amount: 100});
	t.teardown(() => stage.stripe.setPrice('price_oplink_solo', {amount: 1900}));
	stage.stripe.pay(body.sessionId);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'SOLO'});
	t.is(Number((await everythingOf(stage, owner)).invoices[0]?.['amount_minor']), 100);
});

test.serial('unknown price: the plan stays, and the ledger asks for a review', async (t) => {
	const owner = await subscribed(stage);
	const {subscription} = await idsOf(stage, owner);
	stage.stripe.setPrice('price_of_others', {amount: 1});
	const item = stage.stripe.account.subscriptions.get(subscription)?.items.data[0]?.id ?? '';
	await stage.portal.services.stripe?.subscriptions.update(subscription, {
		items: [{id: item, price: 'price_of_others'}],
		proration_behavior: 'none',
	});
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'GROWTH'});
	t.is(await planOf(owner), 'GROWTH');
	t.like(await entryOf(stage, stage.stripe.history.at(-1)), {outcome: 'REVIEW'});
});

test.serial('first payment fails: the row stays INACTIVE, and a new checkout is allowed', async (t) => {
	const owner = await newOwner(stage);
	const {body} = await checkout(owner);
	stage.stripe.pay(body.sessionId, 'delayed');
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'INACTIVE'});
	t.deepEqual(await attemptStatuses(stage, owner), ['OPEN']);
	stage.stripe.settle(body.sessionId, false);
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	t.like(await subscriptionOf(owner), {status: 'INACTIVE'});
	t.deepEqual(await attemptStatuses(stage, owner), ['FAILED']);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE'});
});

test.serial('a payment that takes days activates when it has come', async (t) => {
	const owner = await newOwner(stage);
	const {body} = await checkout(owner);
	stage.stripe.pay(body.sessionId, 'delayed');
	await deliverAll(stage);
	stage.stripe.settle(body.sessionId, true);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE'});
});

test.serial('first checkout expires: the attempt says so, and a new checkout is allowed', async (t) => {
	const owner = await newOwner(stage);
	await checkout(owner);
	stage.portal.clock.advance(DAY);
	stage.stripe.advance();
	await deliverAll(stage);
	t.deepEqual(await attemptStatuses(stage, owner), ['EXPIRED']);
	t.like(await subscriptionOf(owner), {status: 'INACTIVE'});
	t.is((await checkout(owner, 'SOLO')).status, 200);
	t.like(await subscriptionOf(owner), {status: 'INACTIVE', plan: 'SOLO'});
});

test.serial('an expired checkout whose answer was lost is known by the attempt that it names', async (t) => {
	const owner = await newOwner(stage);
	await checkout(owner);
	await stage.portal.services
		.db('billing_attempts')
		.where({organization_id: owner.organization.id})
		.update({gateway_ref: null});
	stage.portal.clock.advance(DAY);
	stage.stripe.advance();
	await deliverAll(stage);
	t.deepEqual(await attemptStatuses(stage, owner), ['EXPIRED']);
});

test.serial(
	'a checkout of an organization that was deleted is closed; paid all the same it is given back',
	async (t) => {
		const owner = await newOwner(stage);
		const open = (await checkout(owner)).body.sessionId;
		const {id} = owner.organization;
		stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500});
		t.is((await admin(stage.portal).delete(`/admin/organizations/${id}`)).status, 200);
		await stage.portal.services.background.settle();
		stage.stripe.pay(open);
		t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
		const charge = stage.stripe.charges.find(({organizationId}) => organizationId === id);
		t.is(charge?.refunded, 7900);
		t.is(stage.stripe.account.subscriptions.get(charge?.subscription ?? '')?.status, 'canceled');
	},
);

test.serial('a payment that has ended before we heard of it gives nothing, and is put to review', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
	const subscription = stage.stripe.charges.at(-1)?.subscription ?? '';
	await stage.portal.services.stripe?.subscriptions.cancel(subscription);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'INACTIVE'});
	t.deepEqual(await attemptStatuses(stage, owner), ['REVIEW']);
	t.is((await attemptsOf(stage, owner)).length, 1);
});

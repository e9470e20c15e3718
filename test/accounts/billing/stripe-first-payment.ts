import {randomUUID} from 'node:crypto';
import {setTimeout as pause} from 'node:timers/promises';
import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {GROWTH} from './_official-stripe.ts';
import type {Whose} from './_stage.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

/** A checkout that somebody else's software opened at the same account, and that is paid. */
const payElsewhere = async (metadata: Record<string, string>): Promise<void> => {
	const {library} = stage;
	const customer = await library.customers.create({email: 'somebody@example.com'});
	const session = await library.checkout.sessions.create({
		mode: 'subscription',
		customer: customer.id,
		line_items: [{price: GROWTH, quantity: 1}],
		metadata,
		subscription_data: {metadata},
		success_url: 'https://elsewhere.example.com',
	});
	stage.stripe.pay(session.id);
};

const deleteOrganization = ({organization}: Whose) =>
	admin(stage.portal).delete(`/admin/organizations/${organization.id}`);

const failExpiry = (times = 1) =>
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500, times});

/** An owner whose first checkout was superseded, but could not be expired at the gateway. @param pay the second one. */
const superseded = async (pay: boolean) => {
	const owner = await stage.newOwner();
	failExpiry(pay ? 2 : 1);
	const first: string = (await owner.openCheckout('SOLO')).body.sessionId;
	const second: string = (await owner.openCheckout('GROWTH')).body.sessionId;
	await stage.portal.services.background.settle();
	if (pay) {
		await stage.pay(second);
		await stage.portal.services.background.settle();
	}

	return {owner, first, second};
};

test.serial('duplicate webhook: it is counted, the gateway is asked nothing, and nothing changes', async (t) => {
	const owner = await stage.payer();
	const events = stage.takeEvents();
	await stage.stripe.deliver(stage.portal, ...events);
	const before = await stage.everythingOf(owner);
	const calls = stage.stripe.calls.length;
	const again = await stage.stripe.deliver(stage.portal, ...events, ...events);
	t.deepEqual(new Set(again.map(({status}) => status)), new Set([200]));
	t.is(stage.stripe.calls.length, calls);
	t.deepEqual(await stage.everythingOf(owner), before);
	t.deepEqual(new Set((await stage.ledgerOf(owner)).map(({deliveries}) => deliveries)), new Set([3]));
});

test.serial('out of order: an ended subscription stays ended, whatever event comes later', async (t) => {
	const owner = await stage.subscribed();
	const {subscription} = await stage.idsOf(owner);
	await stage.library.subscriptions.update(subscription, {cancel_at_period_end: true});
	await stage.library.subscriptions.cancel(subscription);
	const events = stage.takeEvents();
	t.is(events.length, 2);
	for (const event of events.toReversed()) {
		await stage.stripe.deliver(stage.portal, event);
		t.like(await owner.state(), {status: 'CANCELED', cancelAtPeriodEnd: false, uses: 'STARTER'});
	}
});

test.serial('webhook before the ids were stored: the attempt that it names is found', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions', status: 500, afterwards: true});
	t.is((await owner.openCheckout()).status, 502);
	t.like(await owner.state(), {status: null, attempts: 'FAILED'});
	t.deepEqual(new Set(await stage.pay([...stage.stripe.account.sessions.keys()].at(-1) ?? '')), new Set([200]));
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', attempts: 'PAID'});
});

test.serial('activation before any row exists: 5xx and no entry, so that the gateway delivers it again', async (t) => {
	await payElsewhere({orgId: randomUUID(), attemptId: randomUUID()});
	t.deepEqual(new Set(await stage.deliverAll()), new Set([500]));
	t.is(await stage.entryOf(stage.stripe.history.at(-1)), undefined);
});

for (const [what, metadata] of [
	['no metadata', {}],
	['metadata of others', {orgId: 'org_1', attemptId: 'a-1'}],
	['an organization alone', {orgId: randomUUID()}],
] as const) {
	test.serial(`foreign object with ${what}: 200, IGNORED, and the gateway is asked nothing`, async (t) => {
		await payElsewhere(metadata);
		const calls = stage.stripe.calls.length;
		t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
		t.is(stage.stripe.calls.length, calls);
		t.like(await stage.entryOf(stage.stripe.history.at(-1)), {outcome: 'IGNORED', organization_id: null});
	});
}

test.serial('payment of a superseded checkout without a subscription: it is honored with its own plan', async (t) => {
	const {owner, first, second} = await superseded(false);
	await stage.pay(first);
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'SOLO', attempts: 'PAID SUPERSEDED'});
	await stage.portal.services.background.settle();
	t.is(stage.stripe.account.sessions.get(second)?.status, 'expired');
});

test.serial('payment of a superseded checkout with a subscription: it is canceled and refunded, once', async (t) => {
	const {owner, first} = await superseded(true);
	const before = await owner.subscription();
	stage.stripe.pay(first);
	// The gateway fails between giving the money back and ending the subscription.
	stage.stripe.fail({method: 'DELETE', path: '/subscriptions/:id', status: 500});
	const event = stage.stripe.events.slice(0, 1);
	t.is((await stage.stripe.deliver(stage.portal, ...event))[0]?.status, 502);
	t.deepEqual(await stage.attemptStatuses(owner), ['PAID', 'SUPERSEDED']);
	await stage.stripe.deliver(stage.portal, ...event);
	await stage.deliverAll();
	t.deepEqual(await owner.subscription(), before);
	t.like(await owner.state(), {attempts: 'PAID REVIEW', invoices: 1});
	const found = stage.chargesOf(owner).map(({amount, refunded}) => amount - refunded);
	t.deepEqual(found, [7900, 0]);
	const running = [...stage.stripe.account.subscriptions.values()].filter(
		({metadata, status}) => metadata['orgId'] === owner.organization.id && status === 'active',
	);
	t.is(running.length, 1);
});

test.serial('a refund that the gateway refuses is left to the operator, who reads of it in the ledger', async (t) => {
	const {owner, first} = await superseded(true);
	stage.stripe.fail({method: 'POST', path: '/refunds', status: 400, code: 'charge_disputed'});
	t.is((await stage.pay(first))[0], 200);
	const review = (await stage.ledgerOf(owner)).find(({outcome}) => outcome === 'REVIEW');
	t.regex(String(review?.reason), /could not be refunded \(charge_disputed\); refund it by hand/);
});

test.serial('amount mismatch: a price that was not asked for activates nothing, and is put to review', async (t) => {
	const owner = await stage.atCheckout('GROWTH');
	const {sessionId} = owner.checkout;
	Object.assign(stage.stripe.account.orders.get(sessionId) ?? {}, {price: 'price_oplink_solo'});
	t.deepEqual(new Set(await stage.pay(sessionId)), new Set([200]));
	t.like(await owner.state(), {status: 'INACTIVE', plan: 'GROWTH', uses: null, attempts: 'REVIEW'});
	t.is((await stage.ledgerOf(owner))[0]?.outcome, 'REVIEW');
});

test.serial('a lower total for the right price, as a discount makes, activates', async (t) => {
	const owner = await stage.atCheckout('SOLO');
	stage.stripe.setPrice('price_oplink_solo', {amount: 100});
	t.teardown(() => stage.stripe.setPrice('price_oplink_solo', {amount: 1900}));
	await stage.pay(owner.checkout.sessionId);
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'SOLO'});
	t.is((await owner.invoices())[0]?.amount, 100);
});

test.serial('unknown price: the plan stays, and the ledger asks for a review', async (t) => {
	const owner = await stage.subscribed();
	const {subscription} = await stage.idsOf(owner);
	const price = 'price_of_others';
	stage.stripe.setPrice(price, {amount: 1});
	const id = stage.stripe.account.subscriptions.get(subscription)?.items.data[0]?.id ?? '';
	await stage.library.subscriptions.update(subscription, {items: [{id, price}], proration_behavior: 'none'});
	await stage.deliverAll();
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', uses: 'GROWTH'});
	t.like(await stage.entryOf(stage.stripe.history.at(-1)), {outcome: 'REVIEW'});
});

for (const [isPaid, what, status, attempts] of [
	[false, 'the row stays INACTIVE, and a new checkout is allowed', 'INACTIVE', 'FAILED'],
	[true, 'it activates', 'ACTIVE', 'PAID'],
] as const) {
	test.serial(`a first payment that takes days and then ${isPaid ? 'comes' : 'fails'}: ${what}`, async (t) => {
		const owner = await stage.atCheckout();
		stage.stripe.pay(owner.checkout.sessionId, 'delayed');
		await stage.deliverAll();
		t.like(await owner.state(), {status: 'INACTIVE', attempts: 'OPEN'});
		stage.stripe.settle(owner.checkout.sessionId, isPaid);
		t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
		t.like(await owner.state(), {status, attempts});
		if (!isPaid) {
			await stage.pay((await owner.openCheckout()).body.sessionId);
			t.like(await owner.subscription(), {status: 'ACTIVE'});
		}
	});
}

test.serial('first checkout expires: the attempt says so, and a new checkout is allowed', async (t) => {
	const owner = await stage.atCheckout();
	await stage.deliverAfter(1);
	t.like(await owner.state(), {status: 'INACTIVE', attempts: 'EXPIRED'});
	t.is((await owner.openCheckout('SOLO')).status, 200);
	t.like(await owner.subscription(), {status: 'INACTIVE', plan: 'SOLO'});
});

test.serial('an expired checkout whose answer was lost is known by the attempt that it names', async (t) => {
	const owner = await stage.atCheckout();
	const attempts = stage.portal.services.db('billing_attempts').where({organization_id: owner.organization.id});
	await attempts.update({gateway_ref: null});
	await stage.deliverAfter(1);
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED']);
});

test.serial('a checkout of a deleted organization is closed; one that is paid nevertheless is refunded', async (t) => {
	const owner = await stage.atCheckout();
	failExpiry();
	t.is((await deleteOrganization(owner)).status, 200);
	await stage.portal.services.background.settle();
	t.deepEqual(new Set(await stage.pay(owner.checkout.sessionId)), new Set([200]));
	const [charge] = stage.chargesOf(owner);
	t.is(charge?.refunded, 7900);
	t.is(stage.stripe.account.subscriptions.get(charge?.subscription ?? '')?.status, 'canceled');
});

test.serial('a checkout whose organization is deleted meanwhile is 404', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions', delay: 1000});
	const opening = owner.openCheckout();
	while ((await stage.attemptStatuses(owner)).length === 0) {
		await pause(10);
	}

	t.is((await deleteOrganization(owner)).status, 200);
	t.like(await opening, {status: 404, body: {message: 'Organization not found'}});
});

test.serial('a payment that has ended before we heard of it gives nothing, and is put to review', async (t) => {
	const owner = await stage.payer();
	await stage.library.subscriptions.cancel(stage.stripe.charges.at(-1)?.subscription ?? '');
	await stage.deliverAll();
	t.like(await owner.state(), {status: 'INACTIVE', attempts: 'REVIEW'});
});

import test from 'ava';
import {startedFor} from '../../helpers/started.ts';
import {GROWTH, SCALE, SOLO, startPaymobStage, tampered} from './_paymob-stage.ts';
import type {Whose} from './_stage.ts';

const stage = startedFor(test, () => startPaymobStage());

const rows = (table: string, {organization}: Whose) =>
	stage.portal.services.db(table).where({organization_id: organization.id});

/** A checkout that was paid, none of whose callbacks were delivered: that of the payment, and that of its card. */
const paidCheckout = async () => {
	const owner = await stage.atCheckout();
	const payment = stage.paymob.pay(owner.checkout.sessionId, {saveCard: true});
	return {owner, payment, events: stage.paymob.eventsAbout(owner.checkout.sessionId)};
};

test('a duplicate webhook is 200 and has no effect', async (t) => {
	const {owner, events} = await paidCheckout();
	const answers = await stage.paymob.deliverTogether(stage.portal, ...events, ...events, ...events);
	t.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]));
	t.like(await owner.state(), {status: 'ACTIVE', invoices: 1});
	t.is((await owner.cards()).length, 1);
	const deliveries = (await stage.ledgerOf(owner)).map((event) => event.deliveries);
	t.deepEqual(deliveries, [3, 3]);
});

test('out of order: a saved card that arrives before its payment is saved for the organization of its order', async (t) => {
	const {owner, events} = await paidCheckout();
	const types = events.map(({type}) => type);
	t.deepEqual(types, ['TRANSACTION', 'TOKEN']);
	await stage.paymob.deliver(stage.portal, ...events.toReversed());
	t.is((await owner.cards()).length, 1);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test('out of order: a payment that arrives after its refund does not activate', async (t) => {
	for (const undo of ['refund', 'void'] as const) {
		const owner = await stage.atCheckout();
		stage.paymob[undo](stage.paymob.pay(owner.checkout.sessionId).id);
		const events = stage.paymob.eventsAbout(owner.checkout.sessionId);
		await stage.paymob.deliver(stage.portal, ...events.toReversed());
		t.like(await owner.state(), {status: 'INACTIVE', uses: null, outcomes: 'IGNORED IGNORED'}, undo);
	}
});

test('a webhook before the ids were stored is UNMATCHED, and applied as soon as they are', async (t) => {
	const {owner} = await paidCheckout();
	const [gateway_ref] = await rows('billing_attempts', owner).pluck('gateway_ref');
	await rows('billing_attempts', owner).update({gateway_ref: null});
	t.deepEqual(await stage.deliverOf(owner.checkout.sessionId), [200, 200]);
	t.is((await owner.subscription()).status, 'INACTIVE');
	const entries = stage.portal.services.db('gateway_events').where({reference: gateway_ref});
	t.deepEqual(await entries.pluck('outcome'), ['UNMATCHED', 'UNMATCHED']);
	await stage.runMinute();
	t.is((await owner.subscription()).status, 'INACTIVE');
	await rows('billing_attempts', owner).update({gateway_ref});
	await stage.runMinute();
	t.like(await owner.state(), {status: 'ACTIVE', outcomes: 'APPLIED APPLIED'});
	t.is((await owner.cards()).length, 1);
});

test('activation before any row exists is UNMATCHED', async (t) => {
	const {owner} = await paidCheckout();
	await rows('subscriptions', owner).delete();
	t.deepEqual(await stage.deliverOf(owner.checkout.sessionId), [200, 200]);
	t.is(await owner.subscription(), null);
	t.is(await owner.plan(), null);
});

test('an unknown merchant order is 200, UNMATCHED and without effect', async (t) => {
	const paid = await stage.subscribed();
	const before = await paid.subscription();
	const event = stage.forged(paid.payment, {id: 77, order: {...paid.payment.order, id: 999_999_999}});
	t.is((await stage.paymob.send(stage.portal, event)).status, 200);
	const entry = await stage.portal.services.db('gateway_events').where({reference: '999999999'}).first();
	t.like(entry, {outcome: 'UNMATCHED', organization_id: null});
	t.deepEqual(await paid.subscription(), before);
});

test('payment of a superseded checkout is honored with its own plan without a live subscription', async (t) => {
	const {owner, older} = await stage.twoCheckouts();
	await stage.pay(older.sessionId);
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'SOLO', uses: 'SOLO', held: SOLO});
});

test('payment of a superseded checkout is voided and in REVIEW with a live subscription', async (t) => {
	const {owner, older, newer} = await stage.twoCheckouts();
	await stage.pay(newer.sessionId);
	await stage.pay(older.sessionId);
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', held: GROWTH, invoices: 1});
	const reason = 'The organization already has a subscription. The payment was voided.';
	const attempts = await rows('billing_attempts', owner).orderBy('amount_minor').select('status', 'last_error');
	t.deepEqual(attempts, [
		{status: 'REVIEW', last_error: reason},
		{status: 'PAID', last_error: null},
	]);
	const ledger = await stage.ledgerOf(owner);
	t.deepEqual(ledger.map((event) => `${event.outcome}: ${event.reason}`).toSorted(), [
		'APPLIED: The subscription is ACTIVE on GROWTH.',
		'IGNORED: The payment was already refunded.',
		`REVIEW: ${reason}`,
	]);
});

test('a second payment of one checkout is refunded', async (t) => {
	const owner = await stage.subscribed();
	await stage.pay(owner.checkout.sessionId);
	t.like(await owner.state(), {status: 'ACTIVE', held: GROWTH, invoices: 1});
});

test('both checkouts paid at once: one subscription, and the other payment is refunded', async (t) => {
	const {owner, ...checkouts} = await stage.twoCheckouts();
	const sessions = Object.values(checkouts).map(({sessionId}) => sessionId);
	for (const session of sessions) {
		stage.paymob.pay(session);
	}

	const events = sessions.flatMap(stage.paymob.eventsAbout);
	const answers = await stage.paymob.deliverTogether(stage.portal, ...events);
	t.like(answers, [{status: 200}, {status: 200}]);
	await stage.runMinute();
	const {status, plan, held, invoices} = await owner.state();
	t.deepEqual({status, held, invoices}, {status: 'ACTIVE', held: plan === 'SOLO' ? SOLO : GROWTH, invoices: 1});
});

test('amount or currency mismatch activates nothing: 200, attempt REVIEW', async (t) => {
	for (const changes of [
		{amount_cents: 100},
		{amount_cents: 10 * SCALE},
		{currency: 'USD'},
		{integration_id: 4_999_999},
	]) {
		const {owner, payment} = await paidCheckout();
		t.is((await stage.paymob.send(stage.portal, stage.forged(payment, changes))).status, 200);
		const expected = {status: 'INACTIVE', uses: null, attempts: 'REVIEW', outcomes: 'REVIEW'};
		t.like(await owner.state(), expected, JSON.stringify(changes));
	}
});

test('a first payment that fails leaves the row INACTIVE and the same checkout payable', async (t) => {
	const owner = await stage.atCheckout();
	const {sessionId} = owner.checkout;
	stage.paymob.decline(sessionId);
	stage.paymob.startPaying(sessionId);
	t.deepEqual(await stage.deliverOf(sessionId), [200, 200]);
	t.is((await owner.subscription()).status, 'INACTIVE');
	const reasons = (await stage.ledgerOf(owner)).map(({reason}) => reason).toSorted();
	t.deepEqual(reasons, ['The customer is at the bank.', 'The payment was declined.']);
	await stage.pay(sessionId);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test('a replayed genuine callback with altered unsigned fields is harmless', async (t) => {
	const paid = await stage.subscribed({plan: 'SOLO'});
	const other = await stage.atCheckout('SOLO');
	const before = await paid.subscription();
	const [attempt] = await rows('billing_attempts', other).pluck('id');
	const [genuine] = stage.paymob.history.filter(({object}) => object.id === paid.payment.id);
	for (const changes of [
		{refunded_amount_cents: SOLO, is_refund: true},
		{order: {...paid.payment.order, merchant_order_id: attempt}},
		{payment_key_claims: {extra: {attemptId: attempt}}},
		{parent_transaction: 5, is_void: true},
	]) {
		t.is((await stage.paymob.send(stage.portal, tampered(genuine, changes))).status, 200);
	}

	t.deepEqual(await paid.subscription(), before);
	t.is((await other.subscription()).status, 'INACTIVE');
});

test('a partial refund that is replayed as a whole one ends nothing, because the gateway is asked', async (t) => {
	const paid = await stage.subscribed();
	stage.paymob.refund(paid.payment.id, 100);
	await stage.deliverOf(paid.checkout.sessionId);
	t.is((await paid.subscription()).status, 'ACTIVE');
	const genuine = stage.paymob.history.findLast(({object}) => object.id === paid.payment.id);
	await stage.paymob.send(stage.portal, tampered(genuine, {refunded_amount_cents: GROWTH}));
	t.like(await paid.state(), {status: 'ACTIVE', uses: 'GROWTH'});
});

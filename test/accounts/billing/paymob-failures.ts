import test from 'ava';
import {startedFor} from '../../helpers/started.ts';
import {GROWTH, SOLO, startPaymobStage, tampered} from './_paymob-stage.ts';

const stage = startedFor(test, () => startPaymobStage());

test('a duplicate webhook is 200 and has no effect', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	stage.paymob.pay(body.sessionId, {saveCard: true});
	const events = stage.paymob.eventsAbout(body.sessionId);
	const all = [...events, ...events, ...events];
	t.deepEqual(
		(await stage.paymob.deliverTogether(stage.portal, ...all)).map(({status}) => status),
		all.map(() => 200),
	);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is((await owner.invoices()).length, 1);
	t.is((await owner.caller.get('/portal/billing/payment-methods')).body.length, 1);
	const ledger = await stage.ledgerOf(owner);
	t.deepEqual(
		ledger.map(({deliveries}) => deliveries),
		[3, 3],
	);
});

test('out of order: a saved card that arrives before its payment is saved for the organization of its order', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	stage.paymob.pay(body.sessionId, {saveCard: true});
	const [payment, card] = stage.paymob.eventsAbout(body.sessionId);
	t.truthy(card && payment);
	await stage.paymob.deliver(stage.portal, ...[card, payment].flatMap((event) => event ?? []));
	t.is((await owner.caller.get('/portal/billing/payment-methods')).body.length, 1);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test('out of order: a payment that arrives after its refund does not activate', async (t) => {
	for (const undo of ['refund', 'void'] as const) {
		const owner = await stage.newOwner();
		const {body} = await owner.openCheckout('GROWTH');
		const {id} = stage.paymob.pay(body.sessionId);
		stage.paymob[undo](id);
		const events = stage.paymob.eventsAbout(body.sessionId);
		t.is(events.length, 2);
		await stage.paymob.deliver(stage.portal, ...events.toReversed());
		t.is((await owner.subscription()).status, 'INACTIVE');
		t.is(await owner.plan(), null);
		t.deepEqual(await stage.outcomesOf(owner), ['IGNORED', 'IGNORED']);
	}
});

test('a webhook before the ids were stored is UNMATCHED, and applied as soon as they are', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	const {db} = stage.portal.services;
	const attempt = {organization_id: owner.organization.id};
	const [{gateway_ref: ref}] = await db('billing_attempts').where(attempt).select('gateway_ref');
	await db('billing_attempts').where(attempt).update({gateway_ref: null});
	stage.paymob.pay(body.sessionId, {saveCard: true});
	t.deepEqual(await stage.deliverOf(body.sessionId), [200, 200]);
	t.is((await owner.subscription()).status, 'INACTIVE');
	t.deepEqual(await db('gateway_events').where({reference: ref}).pluck('outcome'), ['UNMATCHED', 'UNMATCHED']);
	await stage.runMinute();
	t.is((await owner.subscription()).status, 'INACTIVE');
	await db('billing_attempts').where(attempt).update({gateway_ref: ref});
	await stage.runMinute();
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.deepEqual(await stage.outcomesOf(owner), ['APPLIED', 'APPLIED']);
	t.is((await owner.caller.get('/portal/billing/payment-methods')).body.length, 1);
});

test('activation before any row exists is UNMATCHED', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	const {db} = stage.portal.services;
	await db('subscriptions').where({organization_id: owner.organization.id}).delete();
	stage.paymob.pay(body.sessionId);
	t.deepEqual(await stage.deliverOf(body.sessionId), [200]);
	t.is(await owner.subscription(), null);
	t.is(await owner.plan(), null);
});

test('an unknown merchant order is 200, UNMATCHED and without effect', async (t) => {
	const paid = await stage.subscribed();
	const before = await paid.subscription();
	const event = stage.forged(paid.payment, {id: 77, order: {...paid.payment.order, id: 999_999_999}});
	t.is((await stage.paymob.send(stage.portal, event)).status, 200);
	const {db} = stage.portal.services;
	t.like(await db('gateway_events').where({reference: '999999999'}).first(), {
		outcome: 'UNMATCHED',
		organization_id: null,
	});
	t.deepEqual(await paid.subscription(), before);
});

test('payment of a superseded checkout is honored with its own plan where the organization has no live subscription', async (t) => {
	const {owner, older} = await stage.twoCheckouts();
	await stage.pay(older.sessionId);
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'SOLO'});
	t.is(await owner.plan(), 'SOLO');
	t.is(stage.heldFor(owner), SOLO);
});

test('payment of a superseded checkout is voided and in REVIEW where the organization has a live subscription', async (t) => {
	const {owner, older, newer} = await stage.twoCheckouts();
	await stage.pay(newer.sessionId);
	await stage.pay(older.sessionId);
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'GROWTH'});
	t.is(stage.heldFor(owner), GROWTH);
	t.is((await owner.invoices()).length, 1);
	const {db} = stage.portal.services;
	const attempts = await db('billing_attempts').where({organization_id: owner.organization.id}).orderBy('amount_minor');
	t.deepEqual(
		attempts.map(({status}) => status),
		['REVIEW', 'PAID'],
	);
	t.is(attempts[0].last_error, 'The organization already has a subscription. The payment was voided.');
	const ledger = await stage.ledgerOf(owner);
	t.deepEqual(ledger.map(({outcome, reason}) => `${outcome}: ${reason}`).toSorted(), [
		'APPLIED: The subscription is ACTIVE on GROWTH.',
		'IGNORED: The payment was already refunded.',
		'REVIEW: The organization already has a subscription. The payment was voided.',
	]);
});

test('a second payment of one checkout is refunded', async (t) => {
	const owner = await stage.subscribed();
	await stage.pay(owner.checkout.sessionId);
	t.is(stage.heldFor(owner), GROWTH);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is((await owner.invoices()).length, 1);
});

test('both checkouts paid at once: one subscription, and the other payment is refunded', async (t) => {
	const {owner, older, newer} = await stage.twoCheckouts();
	stage.paymob.pay(older.sessionId);
	stage.paymob.pay(newer.sessionId);
	const events = [older, newer].flatMap(({sessionId}) => stage.paymob.eventsAbout(sessionId));
	const answers = await stage.paymob.deliverTogether(stage.portal, ...events);
	t.deepEqual(
		answers.map(({status}) => status),
		[200, 200],
	);
	await stage.runMinute();
	const {plan, status} = await owner.subscription();
	t.is(status, 'ACTIVE');
	t.is(stage.heldFor(owner), plan === 'SOLO' ? SOLO : GROWTH);
	t.is((await owner.invoices()).length, 1);
});

test('amount or currency mismatch activates nothing: 200, attempt REVIEW', async (t) => {
	for (const changes of [{amount_cents: 100}, {currency: 'USD'}, {integration_id: 4_999_999}]) {
		const owner = await stage.newOwner();
		const {body} = await owner.openCheckout('GROWTH');
		const payment = stage.paymob.pay(body.sessionId);
		for (const event of stage.paymob.eventsAbout(body.sessionId)) {
			stage.paymob.events.splice(stage.paymob.events.indexOf(event), 1);
		}

		t.is((await stage.paymob.send(stage.portal, stage.forged(payment, changes))).status, 200);
		t.is((await owner.subscription()).status, 'INACTIVE');
		t.is(await owner.plan(), null);
		const {db} = stage.portal.services;
		t.deepEqual(await db('billing_attempts').where({organization_id: owner.organization.id}).pluck('status'), [
			'REVIEW',
		]);
		t.deepEqual(await stage.outcomesOf(owner), ['REVIEW']);
	}
});

test('a first payment that fails leaves the row INACTIVE and the same checkout payable', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	stage.paymob.decline(body.sessionId);
	stage.paymob.startPaying(body.sessionId);
	t.deepEqual(await stage.deliverOf(body.sessionId), [200, 200]);
	t.is((await owner.subscription()).status, 'INACTIVE');
	t.deepEqual((await stage.ledgerOf(owner)).map(({reason}) => reason).toSorted(), [
		'The customer is at the bank.',
		'The payment was declined.',
	]);
	await stage.pay(body.sessionId);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test('a replayed genuine callback with altered unsigned fields is harmless', async (t) => {
	const paid = await stage.subscribed({plan: 'SOLO'});
	const other = await stage.newOwner();
	const {body: unpaid} = await other.openCheckout('SOLO');
	const before = await paid.subscription();
	const genuine = stage.paymob.history.find(({object}) => object.id === paid.payment.id);
	const [attempt] = await stage.portal.services
		.db('billing_attempts')
		.where({organization_id: other.organization.id})
		.pluck('id');
	const altered = [
		{refunded_amount_cents: SOLO, is_refund: true},
		{order: {...paid.payment.order, merchant_order_id: attempt}},
		{payment_key_claims: {extra: {attemptId: attempt}}},
		{parent_transaction: 5, is_void: true},
	];
	if (genuine === undefined) {
		return t.fail('there was no callback');
	}

	for (const changes of altered) {
		t.is((await stage.paymob.send(stage.portal, tampered(genuine, changes))).status, 200);
	}

	t.deepEqual(await paid.subscription(), before);
	t.is((await other.subscription()).status, 'INACTIVE');
	t.is(unpaid.action, 'CHECKOUT');
});

test('a partial refund that is replayed as a whole one ends nothing, because the gateway is asked', async (t) => {
	const paid = await stage.subscribed();
	stage.paymob.refund(paid.payment.id, 100);
	await stage.deliverOf(paid.checkout.sessionId);
	t.is((await paid.subscription()).status, 'ACTIVE');
	const genuine = stage.paymob.history.findLast(({object}) => object.id === paid.payment.id);
	t.truthy(genuine);
	if (genuine !== undefined) {
		await stage.paymob.send(stage.portal, tampered(genuine, {refunded_amount_cents: GROWTH}));
	}

	t.is((await paid.subscription()).status, 'ACTIVE');
	t.is(await paid.plan(), 'GROWTH');
});

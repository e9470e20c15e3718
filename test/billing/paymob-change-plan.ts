import test from 'ava';
import {forged, pay} from './_callbacks.ts';
import {
	changePlan,
	DAY,
	deliverAll,
	freshStage,
	GROWTH,
	heldFor,
	invoicesOf,
	ledgerOf,
	MINUTE,
	outcomesOf,
	planOf,
	runJobs,
	SCALE,
	SOLO,
	savedCard,
	stopStages,
	subscribed,
	subscriptionOf,
} from './_paymob-stage.ts';

/** Halfway through the period of 31 days that begins on 10 March at noon. */
const HALF = (31 * DAY) / 2;
const half = (from: number, to: number) => Math.round((to - from) / 2);

test.after.always(stopStages);

test.serial(
	'an upgrade charges the saved card the difference for the rest of the period; the callback changes the plan',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.clock.advance(HALF);
		const {status, body} = await changePlan(owner, 'SCALE');
		t.is(status, 200);
		t.like(body, {action: 'UPGRADED', gateway: 'GATEWAY_B', checkoutUrl: null, sessionId: null});
		t.is(body.subscription.plan, 'GROWTH');
		t.is(heldFor(stage, owner), GROWTH + half(GROWTH, SCALE));
		t.true(stage.paymob.charges.at(-1)?.isMoto);
		t.deepEqual(await deliverAll(stage), [200]);
		t.like(await subscriptionOf(owner), {
			plan: 'SCALE',
			status: 'ACTIVE',
			currentPeriodStart: '2026-03-10T12:00:00.000Z',
			currentPeriodEnd: '2026-04-10T12:00:00.000Z',
		});
		t.is(await planOf(owner), 'SCALE');
		t.like((await invoicesOf(owner))[0], {
			plan: 'SCALE',
			amount: half(GROWTH, SCALE),
			periodEnd: '2026-04-10T12:00:00.000Z',
		});
	},
);

test.serial(
	'without a saved card, or where the account may not charge one, an upgrade is a checkout over the same amount',
	async (t) => {
		for (const hasMoto of [true, false]) {
			const stage = await freshStage({hasMoto});
			const owner = await subscribed(stage, {saveCard: !hasMoto});
			stage.clock.advance(HALF);
			const {body} = await changePlan(owner, 'SCALE');
			t.is(body.action, 'UPGRADE_CHECKOUT');
			t.truthy(body.checkoutUrl);
			t.is(heldFor(stage, owner), GROWTH);
			t.is(await planOf(owner), 'GROWTH');
			await pay(stage, body.sessionId);
			t.is(heldFor(stage, owner), GROWTH + half(GROWTH, SCALE));
			t.like(await subscriptionOf(owner), {plan: 'SCALE', currentPeriodEnd: '2026-04-10T12:00:00.000Z'});
		}
	},
);

test.serial('an upgrade payment that fails leaves the plan: a declined card is answered by a checkout', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.setCard(savedCard(stage), 'declines');
	const {body} = await changePlan(owner, 'SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await deliverAll(stage);
	t.is(await planOf(owner), 'GROWTH');
	t.is(heldFor(stage, owner), GROWTH);
	stage.paymob.decline(body.sessionId);
	await deliverAll(stage);
	t.is(await planOf(owner), 'GROWTH');
	await pay(stage, body.sessionId);
	t.is(await planOf(owner), 'SCALE');
	t.is(heldFor(stage, owner), SCALE);
});

test.serial('a charge whose answer is lost is inquired about and not repeated', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const {body} = await changePlan(owner, 'SCALE');
	t.is(body.action, 'UPGRADED');
	t.is(heldFor(stage, owner), SCALE);
	await deliverAll(stage);
	t.is(await planOf(owner), 'SCALE');
});

test.serial('while nobody can tell whether a card was charged no other charge is made', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const outage = stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 503, times: 2});
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	t.false(outage.isOn());
	t.is(heldFor(stage, owner), SCALE);
	t.is(await planOf(owner), 'GROWTH');
	// The inquiry now finds the payment, which is applied by the code of the callbacks; nothing is charged.
	t.is((await changePlan(owner, 'SCALE')).status, 409);
	t.is(await planOf(owner), 'SCALE');
	await deliverAll(stage);
	t.is(heldFor(stage, owner), SCALE);
	t.is((await invoicesOf(owner)).length, 2);
});

test.serial('a charge that never reached the gateway can be tried again after a quarter of an hour', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	t.is((await changePlan(owner, 'SCALE')).status, 409);
	stage.clock.advance(15 * MINUTE);
	t.is((await changePlan(owner, 'SCALE')).body.action, 'UPGRADED');
	await deliverAll(stage);
	t.is(await planOf(owner), 'SCALE');
});

test.serial('a cheaper plan waits for the next period, and is taken back by the current one', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	const calls = stage.paymob.calls.length;
	t.like((await changePlan(owner, 'SOLO')).body, {action: 'SCHEDULED_DOWNGRADE', checkoutUrl: null});
	t.is((await subscriptionOf(owner)).scheduledPlan, 'SOLO');
	t.is((await changePlan(owner, 'GROWTH')).body.action, 'DOWNGRADE_CANCELLED');
	t.is((await subscriptionOf(owner)).scheduledPlan, null);
	t.is((await changePlan(owner, 'GROWTH')).status, 409);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a payment for the rest of a period that is over is given back', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage, {saveCard: false});
	stage.clock.advance(31 * DAY - 30 * MINUTE);
	const {body} = await changePlan(owner, 'SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	stage.clock.advance(31 * MINUTE);
	await pay(stage, body.sessionId);
	t.is(await planOf(owner), 'GROWTH');
	t.is(heldFor(stage, owner), GROWTH);
	t.true((await outcomesOf(stage, owner)).includes('REVIEW'));
});

test.serial('after the period the dearer plan is paid as a whole, and its period follows', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage, {plan: 'SOLO', saveCard: false});
	stage.clock.advance(32 * DAY);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	const {body} = await changePlan(owner, 'GROWTH');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await pay(stage, body.sessionId);
	t.is(heldFor(stage, owner), SOLO + GROWTH);
	t.like(await subscriptionOf(owner), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		currentPeriodStart: '2026-04-10T12:00:00.000Z',
		currentPeriodEnd: '2026-05-10T12:00:00.000Z',
	});
});

test.serial('a full refund or void of the payment that opened the period ends the entitlement', async (t) => {
	for (const undo of ['refund', 'void'] as const) {
		const stage = await freshStage({settings: {refundCallbacks: undo === 'void' ? 'both' : 'child'}});
		const owner = await subscribed(stage);
		stage.paymob[undo](owner.payment.id);
		await deliverAll(stage);
		t.is((await subscriptionOf(owner)).status, 'CANCELED', undo);
		t.is(await planOf(owner), 'STARTER');
		t.is((await owner.caller.post('/portal/billing/checkout-session', {plan: 'SOLO', currency: 'EGP'})).status, 200);
	}
});

test.serial('a refund of the payment of an upgrade is in REVIEW and leaves the plan', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	await changePlan(owner, 'SCALE');
	await deliverAll(stage);
	const last = stage.paymob.charges.at(-1)?.transactionId ?? 0;
	stage.paymob.refund(last);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).plan, 'SCALE');
	t.true(
		(await ledgerOf(stage, owner)).some(
			({outcome, reason}) => outcome === 'REVIEW' && reason.includes('the plan stays'),
		),
	);
});

test.serial('partial refunds only get recorded', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.refund(owner.payment.id, 1000);
	stage.paymob.refund(owner.payment.id, 2000);
	t.deepEqual(await deliverAll(stage), [200, 200]);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	t.is((await ledgerOf(stage, owner)).filter(({outcome}) => outcome === 'IGNORED').length, 2);
});

test.serial('a transaction settles one attempt only, whatever order it names later', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage, {plan: 'SOLO', saveCard: false});
	const {body} = await changePlan(owner, 'GROWTH');
	const order = [...stage.paymob.merchant.intentions.values()].find(({id}) => id === body.sessionId);
	const event = forged(stage, owner.payment, {
		order: {...owner.payment.order, id: order?.orderId ?? 0},
		success: true,
		is_voided: false,
	});
	// Another state of the same transaction, so that it is no repetition.
	await stage.portal.services.db('gateway_events').delete();
	t.is((await stage.paymob.send(stage.portal, event)).status, 200);
	t.is(await planOf(owner), 'SOLO');
	t.deepEqual(await outcomesOf(stage, owner), ['REVIEW']);
});

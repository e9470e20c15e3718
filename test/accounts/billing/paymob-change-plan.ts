import test from 'ava';
import {freshStage, GROWTH, SCALE, SOLO, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

/** Halfway through the period of 31 days that begins on 10 March at noon. */
const HALF = (31 * DAY) / 2;
const half = (from: number, to: number) => Math.round((to - from) / 2);

test.after.always(stopStages);

test.serial(
	'an upgrade charges the saved card the difference for the rest of the period; the callback changes the plan',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		stage.clock.advance(HALF);
		const {status, body} = await owner.changePlan('SCALE');
		t.is(status, 200);
		t.like(body, {action: 'UPGRADED', gateway: 'GATEWAY_B', checkoutUrl: null, sessionId: null});
		t.is(body.subscription.plan, 'GROWTH');
		t.is(stage.heldFor(owner), GROWTH + half(GROWTH, SCALE));
		t.true(stage.paymob.charges.at(-1)?.isMoto);
		t.deepEqual(await stage.deliverAll(), [200]);
		t.like(await owner.subscription(), {
			plan: 'SCALE',
			status: 'ACTIVE',
			currentPeriodStart: '2026-03-10T12:00:00.000Z',
			currentPeriodEnd: '2026-04-10T12:00:00.000Z',
		});
		t.is(await owner.plan(), 'SCALE');
		t.like((await owner.invoices())[0], {
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
			const owner = await stage.subscribed({saveCard: !hasMoto});
			stage.clock.advance(HALF);
			const {body} = await owner.changePlan('SCALE');
			t.is(body.action, 'UPGRADE_CHECKOUT');
			t.truthy(body.checkoutUrl);
			t.is(stage.heldFor(owner), GROWTH);
			t.is(await owner.plan(), 'GROWTH');
			await stage.pay(body.sessionId);
			t.is(stage.heldFor(owner), GROWTH + half(GROWTH, SCALE));
			t.like(await owner.subscription(), {plan: 'SCALE', currentPeriodEnd: '2026-04-10T12:00:00.000Z'});
		}
	},
);

test.serial('an upgrade payment that fails leaves the plan: a declined card is answered by a checkout', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.setCard(stage.savedCard(), 'declines');
	const {body} = await owner.changePlan('SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');
	t.is(stage.heldFor(owner), GROWTH);
	stage.paymob.decline(body.sessionId);
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');
	await stage.pay(body.sessionId);
	t.is(await owner.plan(), 'SCALE');
	t.is(stage.heldFor(owner), SCALE);
});

test.serial('a charge whose answer is lost is inquired about and not repeated', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const {body} = await owner.changePlan('SCALE');
	t.is(body.action, 'UPGRADED');
	t.is(stage.heldFor(owner), SCALE);
	await stage.deliverAll();
	t.is(await owner.plan(), 'SCALE');
});

test.serial('while the outcome of a charge is unknown no other charge is made', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const outage = stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 503, times: 2});
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.false(outage.isOn());
	t.is(stage.heldFor(owner), SCALE);
	t.is(await owner.plan(), 'GROWTH');
	// The inquiry now finds the payment, which is applied by the code of the callbacks; nothing is charged.
	t.is((await owner.changePlan('SCALE')).status, 409);
	t.is(await owner.plan(), 'SCALE');
	await stage.deliverAll();
	t.is(stage.heldFor(owner), SCALE);
	t.is((await owner.invoices()).length, 2);
});

test.serial('a charge that never reached the gateway can be tried again after a quarter of an hour', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.is((await owner.changePlan('SCALE')).status, 409);
	stage.clock.advance(15 * MINUTE);
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	await stage.deliverAll();
	t.is(await owner.plan(), 'SCALE');
});

test.serial('a cheaper plan waits for the next period, and choosing the current plan cancels it', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	const calls = stage.paymob.calls.length;
	t.like((await owner.changePlan('SOLO')).body, {action: 'SCHEDULED_DOWNGRADE', checkoutUrl: null});
	t.is((await owner.subscription()).scheduledPlan, 'SOLO');
	t.is((await owner.changePlan('GROWTH')).body.action, 'DOWNGRADE_CANCELLED');
	t.is((await owner.subscription()).scheduledPlan, null);
	t.is((await owner.changePlan('GROWTH')).status, 409);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a payment for the rest of a period that is over is refunded', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed({saveCard: false});
	stage.clock.advance(31 * DAY - 30 * MINUTE);
	const {body} = await owner.changePlan('SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	stage.clock.advance(31 * MINUTE);
	await stage.pay(body.sessionId);
	t.is(await owner.plan(), 'GROWTH');
	t.is(stage.heldFor(owner), GROWTH);
	t.true((await stage.outcomesOf(owner)).includes('REVIEW'));
});

test.serial('after the period the dearer plan is paid as a whole, and its period follows', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed({plan: 'SOLO', saveCard: false});
	await stage.runJobs(32 * DAY);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	const {body} = await owner.changePlan('GROWTH');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await stage.pay(body.sessionId);
	t.is(stage.heldFor(owner), SOLO + GROWTH);
	t.like(await owner.subscription(), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		currentPeriodStart: '2026-04-10T12:00:00.000Z',
		currentPeriodEnd: '2026-05-10T12:00:00.000Z',
	});
});

test.serial('a full refund or void of the payment that opened the period ends the entitlement', async (t) => {
	for (const undo of ['refund', 'void'] as const) {
		const stage = await freshStage({settings: {refundCallbacks: undo === 'void' ? 'both' : 'child'}});
		const owner = await stage.subscribed();
		stage.paymob[undo](owner.payment.id);
		await stage.deliverAll();
		t.is((await owner.subscription()).status, 'CANCELED', undo);
		t.is(await owner.plan(), 'STARTER');
		t.is((await owner.caller.post('/portal/billing/checkout-session', {plan: 'SOLO', currency: 'EGP'})).status, 200);
	}
});

test.serial('a refund of the payment of an upgrade is in REVIEW and leaves the plan', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	await owner.changePlan('SCALE');
	await stage.deliverAll();
	const last = stage.paymob.charges.at(-1)?.transactionId ?? 0;
	stage.paymob.refund(last);
	await stage.deliverAll();
	t.is((await owner.subscription()).plan, 'SCALE');
	t.true(
		(await stage.ledgerOf(owner)).some(
			({outcome, reason}) => outcome === 'REVIEW' && reason.includes('the plan stays'),
		),
	);
});

test.serial('partial refunds only get recorded', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.refund(owner.payment.id, 1000);
	stage.paymob.refund(owner.payment.id, 2000);
	t.deepEqual(await stage.deliverAll(), [200, 200]);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is((await stage.ledgerOf(owner)).filter(({outcome}) => outcome === 'IGNORED').length, 2);
});

test.serial('a transaction settles one attempt only, whatever order it names later', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed({plan: 'SOLO', saveCard: false});
	const {body} = await owner.changePlan('GROWTH');
	const order = [...stage.paymob.merchant.intentions.values()].find(({id}) => id === body.sessionId);
	const event = stage.forged(owner.payment, {
		order: {...owner.payment.order, id: order?.orderId ?? 0},
		success: true,
		is_voided: false,
	});
	// Another state of the same transaction is another event.
	await stage.portal.services.db('gateway_events').delete();
	t.is((await stage.paymob.send(stage.portal, event)).status, 200);
	t.is(await owner.plan(), 'SOLO');
	t.deepEqual(await stage.outcomesOf(owner), ['REVIEW']);
});

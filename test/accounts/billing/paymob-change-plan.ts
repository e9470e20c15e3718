import test from 'ava';
import {freshSubscriber, GROWTH, SCALE, SOLO, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

/** Halfway through the period of 31 days that begins on 10 March at noon. */
const HALF = (31 * DAY) / 2;
const END = '2026-04-10T12:00:00.000Z';
const half = (from: number, to: number) => Math.round((to - from) / 2);

test.after.always(stopStages);

test.serial('an upgrade charges the saved card for the rest of the period; its callback sets the plan', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.advance(HALF);
	const {status, body} = await owner.changePlan('SCALE');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADED', gateway: 'GATEWAY_B', checkoutUrl: null, sessionId: null});
	t.is(body.subscription.plan, 'GROWTH');
	t.is(stage.heldFor(owner), GROWTH + half(GROWTH, SCALE));
	t.true(stage.paymob.charges.at(-1)?.isMoto);
	t.deepEqual(await stage.deliverAll(), [200]);
	const period = {currentPeriodStart: '2026-03-10T12:00:00.000Z', currentPeriodEnd: END};
	t.like(await owner.state(), {plan: 'SCALE', uses: 'SCALE', status: 'ACTIVE', ...period});
	t.like((await owner.invoices())[0], {plan: 'SCALE', amount: half(GROWTH, SCALE), periodEnd: END});
});

test.serial('where no saved card can be charged, an upgrade is a checkout over the same amount', async (t) => {
	for (const hasMoto of [true, false]) {
		const {stage, owner} = await freshSubscriber({hasMoto}, {saveCard: !hasMoto});
		stage.clock.advance(HALF);
		const {body} = await owner.changePlan('SCALE');
		t.is(body.action, 'UPGRADE_CHECKOUT');
		t.truthy(body.checkoutUrl);
		t.like(await owner.state(), {uses: 'GROWTH', held: GROWTH});
		await stage.pay(body.sessionId);
		t.like(await owner.state(), {plan: 'SCALE', held: GROWTH + half(GROWTH, SCALE), currentPeriodEnd: END});
	}
});

test.serial('an upgrade payment that fails leaves the plan: a declined card is answered by a checkout', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.setCard('declines');
	const {body} = await owner.changePlan('SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await stage.deliverAll();
	t.like(await owner.state(), {uses: 'GROWTH', held: GROWTH});
	stage.paymob.decline(body.sessionId);
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');
	await stage.pay(body.sessionId);
	t.like(await owner.state(), {uses: 'SCALE', held: SCALE});
});

test.serial('a charge whose answer is lost is inquired about and not repeated', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	t.is(stage.heldFor(owner), SCALE);
	await stage.deliverAll();
	t.is(await owner.plan(), 'SCALE');
});

test.serial('while the outcome of a charge is unknown no other charge is made', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	const outage = stage.failInquiries(2);
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.false(outage.isOn());
	t.like(await owner.state(), {uses: 'GROWTH', held: SCALE});
	// The inquiry now finds the payment, which is applied by the code of the callbacks; nothing is charged.
	t.is((await owner.changePlan('SCALE')).status, 409);
	t.is(await owner.plan(), 'SCALE');
	await stage.deliverAll();
	t.like(await owner.state(), {held: SCALE, invoices: 2});
});

test.serial('a charge that never reached the gateway can be tried again after a quarter of an hour', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	t.is((await owner.changePlan('SCALE')).status, 502);
	t.is((await owner.changePlan('SCALE')).status, 409);
	stage.clock.advance(15 * MINUTE);
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	await stage.deliverAll();
	t.is(await owner.plan(), 'SCALE');
});

test.serial('a cheaper plan waits for the next period, and choosing the current plan cancels it', async (t) => {
	const {stage, owner} = await freshSubscriber();
	const calls = stage.paymob.calls.length;
	t.like((await owner.changePlan('SOLO')).body, {action: 'SCHEDULED_DOWNGRADE', checkoutUrl: null});
	t.is((await owner.subscription()).scheduledPlan, 'SOLO');
	t.is((await owner.changePlan('GROWTH')).body.action, 'DOWNGRADE_CANCELLED');
	t.is((await owner.subscription()).scheduledPlan, null);
	t.is((await owner.changePlan('GROWTH')).status, 409);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a payment for the rest of a period that is over is refunded', async (t) => {
	const {stage, owner} = await freshSubscriber({}, {saveCard: false});
	stage.clock.advance(31 * DAY - 30 * MINUTE);
	const {body} = await owner.changePlan('SCALE');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	stage.clock.advance(31 * MINUTE);
	await stage.pay(body.sessionId);
	const {uses, held, outcomes} = await owner.state();
	t.deepEqual({uses, held}, {uses: 'GROWTH', held: GROWTH});
	t.regex(outcomes, /REVIEW/);
});

test.serial('an upgrade that a later one replaced is refunded where it is paid all the same', async (t) => {
	const {stage, owner} = await freshSubscriber({}, {plan: 'SOLO', saveCard: false});
	const {body: replaced} = await owner.changePlan('GROWTH');
	await owner.changePlan('SCALE');
	await stage.pay(replaced.sessionId);
	t.like(await owner.state(), {uses: 'SOLO', held: SOLO});
});

test.serial('after the period the dearer plan is paid as a whole, and its period follows', async (t) => {
	const {stage, owner} = await freshSubscriber({}, {plan: 'SOLO', saveCard: false});
	await stage.runJobs(32 * DAY);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	const {body} = await owner.changePlan('GROWTH');
	t.is(body.action, 'UPGRADE_CHECKOUT');
	await stage.pay(body.sessionId);
	const period = {currentPeriodStart: END, currentPeriodEnd: '2026-05-10T12:00:00.000Z'};
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', held: SOLO + GROWTH, ...period});
});

test.serial('a full refund or void of the payment that opened the period ends the entitlement', async (t) => {
	for (const undo of ['refund', 'void'] as const) {
		const {stage, owner} = await freshSubscriber({settings: {refundCallbacks: undo === 'void' ? 'both' : 'child'}});
		stage.paymob[undo](owner.payment.id);
		await stage.deliverAll();
		t.like(await owner.state(), {status: 'CANCELED', uses: 'STARTER'}, undo);
		t.is((await owner.openCheckout('SOLO')).status, 200);
	}
});

test.serial('a refund of the payment of an upgrade is in REVIEW and leaves the plan', async (t) => {
	const {stage, owner} = await freshSubscriber();
	await owner.changePlan('SCALE');
	await stage.deliverAll();
	stage.paymob.refund(stage.paymob.charges.at(-1)?.transactionId ?? 0);
	await stage.deliverAll();
	t.is((await owner.subscription()).plan, 'SCALE');
	const review = (await stage.ledgerOf(owner)).filter(({outcome}) => outcome === 'REVIEW');
	t.true(review.some(({reason}) => reason.includes('the plan stays')));
});

test.serial('partial refunds only get recorded', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.paymob.refund(owner.payment.id, 1000);
	stage.paymob.refund(owner.payment.id, 2000);
	t.deepEqual(await stage.deliverAll(), [200, 200]);
	const {status, outcomes} = await owner.state();
	t.is(status, 'ACTIVE');
	t.is(outcomes.match(/IGNORED/g)?.length, 2);
});

test.serial('a transaction settles one attempt only, whatever order it names later', async (t) => {
	const {stage, owner} = await freshSubscriber({}, {plan: 'SOLO', saveCard: false});
	const {body} = await owner.changePlan('GROWTH');
	const other = [...stage.paymob.merchant.intentions.values()].find(({id}) => id === body.sessionId);
	const order = {...owner.payment.order, id: other?.orderId ?? 0};
	const event = stage.forged(owner.payment, {order, success: true, is_voided: false});
	// Another state of the same transaction is another event.
	await stage.portal.services.db('gateway_events').delete();
	t.is((await stage.paymob.send(stage.portal, event)).status, 200);
	t.like(await owner.state(), {uses: 'SOLO', outcomes: 'REVIEW'});
});

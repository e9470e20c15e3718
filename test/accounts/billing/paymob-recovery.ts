import test from 'ava';
import {startService} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';
import {freshStage, freshSubscriber, GROWTH, type PaymobStage, runMinute, SCALE, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

test.after.always(stopStages);

const NEXT = '2026-05-10T12:00:00.000Z';

/** Drops the waiting callbacks. */
const loseCallbacks = ({paymob}: PaymobStage): void => {
	paymob.events.splice(0);
};

const freshCheckout = async () => {
	const stage = await freshStage();
	return {stage, owner: await stage.atCheckout()};
};

/** A checkout at which the bank still decided when it expired here. */
const expiredAtTheBank = async () => {
	const {stage, owner} = await freshCheckout();
	const {id} = stage.paymob.startPaying(owner.checkout.sessionId);
	await stage.deliverAll();
	await stage.runJobs(61 * MINUTE);
	return {stage, owner, id};
};

/** A second service over the same database. */
const startAnother = async ({portal, paymob, clock}: PaymobStage, env: Record<string, string> = {}) => {
	const other = await startService({...paymob.env, ...env}, clock, {url: portal.databaseUrl, drop: async () => {}});
	await other.services.background.settle();
	return other;
};

test.serial('a checkout that was paid without a callback is found after 15 minutes, with its saved card', async (t) => {
	const {stage, owner} = await freshCheckout();
	stage.paymob.pay(owner.checkout.sessionId, {saveCard: true});
	loseCallbacks(stage);
	await stage.runJobs(14 * MINUTE);
	t.is((await owner.subscription()).status, 'INACTIVE');
	await stage.runJobs(MINUTE);
	t.like(await owner.state(), {status: 'ACTIVE', invoices: 1});
	t.is((await owner.cards()).length, 1);
});

test.serial('a superseded checkout that was paid without a callback is found, too', async (t) => {
	const stage = await freshStage();
	const {owner, older, newer} = await stage.twoCheckouts();
	await stage.pay(newer.sessionId);
	stage.paymob.pay(older.sessionId);
	loseCallbacks(stage);
	await stage.runJobs(15 * MINUTE);
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('an unpaid checkout is EXPIRED after an hour, and further inquiries end', async (t) => {
	const stage = await freshStage();
	const {owner} = await stage.twoCheckouts();
	await stage.keepRunning(7, 15 * MINUTE);
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED', 'SUPERSEDED']);
	const calls = stage.paymob.calls.length;
	await stage.runJobs(DAY);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a payment that arrives after its checkout expired here is honored', async (t) => {
	const {stage, owner, id} = await expiredAtTheBank();
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED']);
	await stage.settle(id);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test.serial('a checkout that expired here before ops set a plan does not replace that plan', async (t) => {
	const {stage, owner, id} = await expiredAtTheBank();
	await stage.setPlan(owner, 'SCALE');
	stage.clock.advance(MINUTE);
	await stage.settle(id);
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'SCALE', gateway: 'MANUAL', held: 0});
});

test.serial('a checkout whose order was never stored is closed', async (t) => {
	const {stage, owner} = await freshCheckout();
	t.is(owner.checkout.action, 'CHECKOUT');
	await stage.portal.services.db('billing_attempts').update({gateway_ref: null, gateway_ref2: null});
	await stage.runJobs(15 * MINUTE);
	t.deepEqual(await stage.attemptStatuses(owner), ['FAILED']);
});

test.serial('an upgrade whose process died after the charge is found by the jobs', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	stage.failInquiries(1);
	t.is((await owner.changePlan('SCALE')).status, 502);
	loseCallbacks(stage);
	await stage.runJobs(15 * MINUTE);
	t.like(await owner.state(), {uses: 'SCALE', held: SCALE});
});

test.serial('a renewal whose process died after the order, or after the charge, charges once', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.advance(31 * DAY);
	// The order was made, and its answer lost: the try is open, and nothing was charged.
	stage.paymob.fail({path: '/intention/', drop: true, afterwards: true});
	await stage.runMinute();
	t.is(stage.heldFor(owner), GROWTH);
	const opened = {status: 'OPEN', gateway_ref: null, charged_at: null};
	t.like((await stage.attemptsOf(owner, ['gateway_ref', 'charged_at'])).at(-1), opened);
	// The card was charged, and the process died before the answer.
	stage.loseChargeAnswer();
	stage.failInquiries(1);
	await stage.keepRunning(5, MINUTE, stage.runMinute);
	t.is(stage.heldFor(owner), 2 * GROWTH);
	loseCallbacks(stage);
	await stage.runMinute(10 * MINUTE);
	t.like(await owner.state(), {currentPeriodEnd: NEXT, held: 2 * GROWTH, invoices: 2});
});

test.serial('two services that run the jobs at once charge, end and refund once', async (t) => {
	const stage = await freshStage();
	const other = await startedIn(t, startAnother(stage));
	const owners = [await stage.subscribed(), await stage.subscribed(), await stage.subscribed()];
	const leaving = await stage.subscribed();
	await leaving.cancel();
	stage.clock.advance(31 * DAY);
	const both = () => Promise.all([stage.portal, stage.portal, other, other].map((service) => runMinute(service)));
	await both();
	await both();
	await stage.deliverAll();
	for (const owner of owners) {
		t.like(await owner.state(), {held: 2 * GROWTH, currentPeriodEnd: NEXT});
	}

	t.is((await leaving.subscription()).status, 'CANCELED');
	const {db} = stage.portal.services;
	const ends = await db('audit_log').where({organization_id: leaving.organization.id, action: 'END'});
	t.is(ends.length, 1);
	t.is((await db('billing_attempts').where({purpose: 'RENEWAL'})).length, 3);
});

test.serial('a refund that fails is tried again, and made once', async (t) => {
	const stage = await freshStage();
	const {owner, older, newer} = await stage.twoCheckouts();
	const refund = '/api/acceptance/void_refund/refund';
	const refunds = () => stage.paymob.calls.filter(({path}) => path === refund).length;
	await stage.pay(newer.sessionId);
	stage.paymob.fail({path: '/api/acceptance/void_refund/void', status: 503});
	stage.paymob.pay(older.sessionId);
	await stage.deliverAll();
	t.true(stage.heldFor(owner) > GROWTH);
	stage.clock.advance(DAY);
	// The refund is done, and its answer lost: the next try asks before it refunds.
	stage.paymob.fail({path: refund, drop: true, afterwards: true});
	await stage.runMinute();
	t.is(stage.heldFor(owner), GROWTH);
	loseCallbacks(stage);
	await stage.runMinute(DAY);
	t.is(stage.heldFor(owner), GROWTH);
	const [attempt] = (await stage.attemptsOf(owner, ['last_error'])).filter(({status}) => status === 'REVIEW');
	t.is(attempt?.['last_error'], 'The organization already has a subscription. The payment was refunded.');
	const before = refunds();
	await stage.runMinute(DAY);
	t.is(refunds(), before);
});

test.serial('cards can be decrypted after OPLINK_KEY_SECRET is set later', async (t) => {
	const {stage, owner} = await freshSubscriber();
	const later = await startedIn(t, startAnother(stage, {OPLINK_KEY_SECRET: 'a secret that came later'}));
	stage.clock.advance(31 * DAY);
	await runMinute(later);
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

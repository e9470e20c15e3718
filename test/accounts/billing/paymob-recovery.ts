import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {startService} from '../../helpers/service.ts';
import {freshStage, GROWTH, type PaymobStage, runMinute, SCALE, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

test.after.always(stopStages);

/** Drops the waiting callbacks. */
const loseCallbacks = ({paymob}: PaymobStage): void => {
	paymob.events.splice(0);
};

test.serial('a checkout that was paid without a callback is found after 15 minutes, with its saved card', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	stage.paymob.pay(body.sessionId, {saveCard: true});
	loseCallbacks(stage);
	await stage.runJobs(14 * MINUTE);
	t.is((await owner.subscription()).status, 'INACTIVE');
	await stage.runJobs(MINUTE);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is((await owner.caller.get('/portal/billing/payment-methods')).body.length, 1);
	t.is((await owner.invoices()).length, 1);
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
	const owner = await stage.newOwner();
	await owner.openCheckout('SOLO');
	await owner.openCheckout('GROWTH');
	for (let quarter = 0; quarter < 6; quarter += 1) {
		await stage.runJobs(15 * MINUTE);
	}

	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED', 'SUPERSEDED']);
	const calls = stage.paymob.calls.length;
	await stage.runJobs(DAY);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a payment that arrives after its checkout expired here is honored', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	const {id} = stage.paymob.startPaying(body.sessionId);
	await stage.deliverAll();
	await stage.runJobs(61 * MINUTE);
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED']);
	stage.paymob.settle(id, true);
	await stage.deliverAll();
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test.serial('a checkout whose order was never stored is closed', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	await stage.portal.services.db('billing_attempts').update({gateway_ref: null, gateway_ref2: null});
	await stage.runJobs(15 * MINUTE);
	t.is(body.action, 'CHECKOUT');
	t.deepEqual(await stage.attemptStatuses(owner), ['FAILED']);
});

test.serial('an upgrade whose process died after the charge is found by the jobs', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 500});
	t.is((await owner.changePlan('SCALE')).status, 502);
	loseCallbacks(stage);
	await stage.runJobs(15 * MINUTE);
	t.is(await owner.plan(), 'SCALE');
	t.is(stage.heldFor(owner), SCALE);
});

test.serial(
	'a renewal whose process died between its steps charges once: after the try, after the order, after the charge',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		stage.clock.advance(31 * DAY);
		// The order was made, and its answer lost: the try is open, and nothing was charged.
		stage.paymob.fail({path: '/intention/', drop: true, afterwards: true});
		await stage.runMinute();
		t.is(stage.heldFor(owner), GROWTH);
		t.like((await stage.attemptsOf(owner, ['gateway_ref', 'charged_at'])).at(-1), {
			status: 'OPEN',
			gateway_ref: null,
			charged_at: null,
		});
		// The card was charged, and the process died before the answer.
		stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
		stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 500});
		for (let minute = 0; minute < 5; minute += 1) {
			await stage.runMinute();
			stage.clock.advance(MINUTE);
		}

		t.is(stage.heldFor(owner), 2 * GROWTH);
		loseCallbacks(stage);
		await stage.runMinute(10 * MINUTE);
		t.is((await owner.subscription()).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
		t.is(stage.heldFor(owner), 2 * GROWTH);
		t.is((await owner.invoices()).length, 2);
	},
);

test.serial('two services that run the jobs at once charge, end and refund once', async (t) => {
	const stage = await freshStage();
	const database = {url: stage.portal.databaseUrl, drop: async () => {}};
	const other = await startService(stage.paymob.env, stage.clock, database);
	t.teardown(() => other.stop());
	await other.services.background.settle();
	const owners = [await stage.subscribed(), await stage.subscribed(), await stage.subscribed()];
	const leaving = await stage.subscribed();
	await leaving.caller.post('/portal/billing/cancel');
	stage.clock.advance(31 * DAY);
	const both = () => Promise.all([stage.portal, stage.portal, other, other].map((service) => runMinute(service)));
	await both();
	await both();
	await stage.deliverAll();
	for (const owner of owners) {
		t.is(stage.heldFor(owner), 2 * GROWTH);
		t.is((await owner.subscription()).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
	}

	t.is((await leaving.subscription()).status, 'CANCELED');
	const {db} = stage.portal.services;
	const ends = await db('audit_log').where({organization_id: leaving.organization.id, action: 'END'});
	t.is(ends.length, 1);
	const tries = await db('billing_attempts').where({purpose: 'RENEWAL'});
	t.is(tries.length, 3);
});

test.serial('a refund that fails is tried again, and made once', async (t) => {
	const stage = await freshStage();
	const {owner, older, newer} = await stage.twoCheckouts();
	await stage.pay(newer.sessionId);
	stage.paymob.fail({path: '/api/acceptance/void_refund/void', status: 503});
	stage.paymob.pay(older.sessionId);
	await stage.deliverAll();
	t.true(stage.heldFor(owner) > GROWTH);
	stage.clock.advance(DAY);
	// The refund is done, and its answer lost: the next try asks before it refunds.
	stage.paymob.fail({path: '/api/acceptance/void_refund/refund', drop: true, afterwards: true});
	await stage.runMinute();
	t.is(stage.heldFor(owner), GROWTH);
	loseCallbacks(stage);
	await stage.runMinute(DAY);
	t.is(stage.heldFor(owner), GROWTH);
	const [attempt] = (await stage.attemptsOf(owner, ['last_error'])).filter(({status}) => status === 'REVIEW');
	t.is(attempt?.['last_error'], 'The organization already has a subscription. The payment was refunded.');
	const refunds = stage.paymob.calls.filter(({path}) => path === '/api/acceptance/void_refund/refund').length;
	await stage.runMinute(DAY);
	t.is(stage.paymob.calls.filter(({path}) => path === '/api/acceptance/void_refund/refund').length, refunds);
});

test.serial('cards can be decrypted after OPLINK_KEY_SECRET is set later', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	const database = {url: stage.portal.databaseUrl, drop: async () => {}};
	const later = await startService(
		{...stage.paymob.env, OPLINK_KEY_SECRET: 'a secret that came later'},
		stage.clock,
		database,
	);
	t.teardown(() => later.stop());
	await later.services.background.settle();
	stage.clock.advance(31 * DAY);
	await runMinute(later);
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('a checkout that expired here before ops set a plan does not replace that plan', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('SOLO');
	const {id} = stage.paymob.startPaying(body.sessionId);
	await stage.deliverAll();
	await stage.runMinute(61 * MINUTE);
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED']);
	await admin(stage.portal).put(`/admin/organizations/${owner.organization.id}/plan`, {plan: 'SCALE'});
	stage.clock.advance(MINUTE);
	stage.paymob.settle(id, true);
	await stage.deliverAll();
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'SCALE', gateway: 'MANUAL'});
	t.is(stage.heldFor(owner), 0);
});

import test from 'ava';
import {startService} from '../helpers/service.ts';
import {pay, twoCheckouts} from './_callbacks.ts';
import {
	changePlan,
	checkout,
	DAY,
	deliverAll,
	freshStage,
	GROWTH,
	heldFor,
	invoicesOf,
	MINUTE,
	newOwner,
	type PaymobStage,
	planOf,
	runJobs,
	runMinute,
	SCALE,
	stopStages,
	subscribed,
	subscriptionOf,
} from './_paymob-stage.ts';

test.after.always(stopStages);

/** Nobody is told what happened so far. */
const loseCallbacks = ({paymob}: PaymobStage): void => {
	paymob.events.splice(0);
};

const attemptsOf = ({portal}: PaymobStage, organizationId: string) =>
	portal.services.db('billing_attempts').where({organization_id: organizationId}).orderBy('created_at');

test.serial('a checkout that was paid without a callback is found after 15 minutes, with its saved card', async (t) => {
	const stage = await freshStage();
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, 'GROWTH');
	stage.paymob.pay(body.sessionId, {saveCard: true});
	loseCallbacks(stage);
	stage.clock.advance(14 * MINUTE);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'INACTIVE');
	stage.clock.advance(MINUTE);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	t.is((await owner.caller.get('/portal/billing/payment-methods')).body.length, 1);
	t.is((await invoicesOf(owner)).length, 1);
});

test.serial('a superseded checkout that was paid without a callback is found, too', async (t) => {
	const stage = await freshStage();
	const {owner, older, newer} = await twoCheckouts(stage);
	await pay(stage, newer.sessionId);
	stage.paymob.pay(older.sessionId);
	loseCallbacks(stage);
	stage.clock.advance(15 * MINUTE);
	await runJobs(stage);
	t.is(heldFor(stage, owner), GROWTH);
});

test.serial('a checkout that nobody paid is EXPIRED after an hour, and is asked about no more', async (t) => {
	const stage = await freshStage();
	const owner = await newOwner(stage);
	await checkout(owner, 'SOLO');
	await checkout(owner, 'GROWTH');
	for (let quarter = 0; quarter < 6; quarter += 1) {
		stage.clock.advance(15 * MINUTE);
		await runJobs(stage);
	}

	const statuses = (await attemptsOf(stage, owner.organization.id)).map(({status}) => status);
	t.deepEqual(statuses.toSorted(), ['EXPIRED', 'SUPERSEDED']);
	const calls = stage.paymob.calls.length;
	stage.clock.advance(DAY);
	await runJobs(stage);
	t.is(stage.paymob.calls.length, calls);
});

test.serial('a success that comes after its checkout expired here is honored all the same', async (t) => {
	const stage = await freshStage();
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, 'GROWTH');
	const {id} = stage.paymob.startPaying(body.sessionId);
	await deliverAll(stage);
	stage.clock.advance(61 * MINUTE);
	await runJobs(stage);
	t.deepEqual(
		(await attemptsOf(stage, owner.organization.id)).map(({status}) => status),
		['EXPIRED'],
	);
	stage.paymob.settle(id, true);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
});

test.serial('a checkout whose order was never stored is closed: nobody was shown it', async (t) => {
	const stage = await freshStage();
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, 'GROWTH');
	await stage.portal.services.db('billing_attempts').update({gateway_ref: null, gateway_ref2: null});
	stage.clock.advance(15 * MINUTE);
	await runJobs(stage);
	t.is(body.action, 'CHECKOUT');
	t.deepEqual(
		(await attemptsOf(stage, owner.organization.id)).map(({status}) => status),
		['FAILED'],
	);
});

test.serial('an upgrade whose process died after the charge is found by the jobs', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 500});
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	loseCallbacks(stage);
	stage.clock.advance(15 * MINUTE);
	await runJobs(stage);
	t.is(await planOf(owner), 'SCALE');
	t.is(heldFor(stage, owner), SCALE);
});

test.serial(
	'a renewal whose process died between its steps charges once: after the try, after the order, after the charge',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.clock.advance(31 * DAY);
		// The order was made, and its answer lost: the try is open, and nothing was charged.
		stage.paymob.fail({path: '/intention/', drop: true, afterwards: true});
		await runMinute(stage.portal);
		t.is(heldFor(stage, owner), GROWTH);
		t.like((await attemptsOf(stage, owner.organization.id)).at(-1), {
			status: 'OPEN',
			gateway_ref: null,
			charged_at: null,
		});
		// The card was charged, and the process died before the answer.
		stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
		stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 500});
		for (let minute = 0; minute < 5; minute += 1) {
			await runMinute(stage.portal);
			stage.clock.advance(MINUTE);
		}

		t.is(heldFor(stage, owner), 2 * GROWTH);
		loseCallbacks(stage);
		stage.clock.advance(10 * MINUTE);
		await runMinute(stage.portal);
		t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
		t.is(heldFor(stage, owner), 2 * GROWTH);
		t.is((await invoicesOf(owner)).length, 2);
	},
);

test.serial('two services that run the jobs at once charge, end and give back once', async (t) => {
	const stage = await freshStage();
	const database = {url: stage.portal.databaseUrl, drop: async () => {}};
	const other = await startService(stage.paymob.env, stage.clock, database);
	t.teardown(() => other.stop());
	await other.services.background.settle();
	const owners = [await subscribed(stage), await subscribed(stage), await subscribed(stage)];
	const leaving = await subscribed(stage);
	await leaving.caller.post('/portal/billing/cancel');
	stage.clock.advance(31 * DAY);
	const both = () => Promise.all([stage.portal, stage.portal, other, other].map((service) => runMinute(service)));
	await both();
	await both();
	await deliverAll(stage);
	for (const owner of owners) {
		t.is(heldFor(stage, owner), 2 * GROWTH);
		t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
	}

	t.is((await subscriptionOf(leaving)).status, 'CANCELED');
	const {db} = stage.portal.services;
	const ends = await db('audit_log').where({organization_id: leaving.organization.id, action: 'END'});
	t.is(ends.length, 1);
	const tries = await db('billing_attempts').where({purpose: 'RENEWAL'});
	t.is(tries.length, 3);
});

test.serial(
	'a payment that cannot be given back at once is tried again, refunded after its day, and once',
	async (t) => {
		const stage = await freshStage();
		const {owner, older, newer} = await twoCheckouts(stage);
		await pay(stage, newer.sessionId);
		stage.paymob.fail({path: '/api/acceptance/void_refund/void', status: 503});
		stage.paymob.pay(older.sessionId);
		await deliverAll(stage);
		t.true(heldFor(stage, owner) > GROWTH);
		stage.clock.advance(DAY);
		// The refund is done, and its answer lost: the next try asks before it gives anything back.
		stage.paymob.fail({path: '/api/acceptance/void_refund/refund', drop: true, afterwards: true});
		await runMinute(stage.portal);
		t.is(heldFor(stage, owner), GROWTH);
		loseCallbacks(stage);
		stage.clock.advance(DAY);
		await runMinute(stage.portal);
		t.is(heldFor(stage, owner), GROWTH);
		const [attempt] = (await attemptsOf(stage, owner.organization.id)).filter(({status}) => status === 'REVIEW');
		t.is(attempt.last_error, 'The organization already has a subscription. The payment was refunded.');
		const refunds = stage.paymob.calls.filter(({path}) => path === '/api/acceptance/void_refund/refund').length;
		stage.clock.advance(DAY);
		await runMinute(stage.portal);
		t.is(stage.paymob.calls.filter(({path}) => path === '/api/acceptance/void_refund/refund').length, refunds);
	},
);

test.serial('cards are kept as they can be read again: with OPLINK_KEY_SECRET set later, too', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
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
	t.is(heldFor(stage, owner), 2 * GROWTH);
});

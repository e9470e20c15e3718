import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {freshStage, GROWTH, type PaymobStage, SCALE, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

test.after.always(stopStages);

const PERIOD = 31 * DAY;

/** How often a saved card was charged, whatever came of it. */
const chargesIn = ({paymob}: PaymobStage): number =>
	paymob.calls.filter(({path}) => path === '/api/acceptance/payments/pay').length;

test.serial(
	'a renewal that fails is PAST_DUE and retried after 1, 3, 5 and 7 days; exhausted, it is CANCELED with STARTER',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		stage.paymob.setCard(stage.savedCard(), 'declines');
		await stage.runJobs(PERIOD);
		t.like(await owner.subscription(), {
			status: 'PAST_DUE',
			plan: 'GROWTH',
			currentPeriodEnd: '2026-04-10T12:00:00.000Z',
		});
		const seen: number[] = [];
		for (let day = 0; day < 7; day += 1) {
			t.is((await owner.activeSubscription()).status, 'PAST_DUE', `day ${day}`);
			t.is(await owner.plan(), 'GROWTH');
			await stage.runJobs(DAY - MINUTE);
			const before = chargesIn(stage);
			await stage.runJobs(MINUTE);
			if (chargesIn(stage) > before) {
				seen.push(day + 1);
			}
		}

		t.deepEqual(seen, [1, 3, 5, 7]);
		t.is(chargesIn(stage), 5);
		t.like(await owner.subscription(), {status: 'CANCELED', scheduledPlan: null});
		t.is(await owner.activeSubscription(), null);
		t.is(await owner.plan(), 'STARTER');
		t.is(stage.heldFor(owner), GROWTH);
		const references = stage.paymob.calls.flatMap(({path, body}) =>
			path === '/v1/intention/' ? [(body as {special_reference: string}).special_reference] : [],
		);
		t.is(new Set(references).size, references.length);
	},
);

test.serial('a later success makes it ACTIVE, and the period is the one that was due', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.setCard(stage.savedCard(), 'declines');
	await stage.runJobs(PERIOD);
	stage.paymob.setCard(stage.savedCard(), 'works');
	await stage.runJobs(DAY);
	t.like(await owner.subscription(), {status: 'ACTIVE', currentPeriodEnd: '2026-05-10T12:00:00.000Z'});
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('without a card that can be charged the schedule is the same and ends CANCELED', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await stage.subscribed();
	await stage.runJobs(PERIOD);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	for (const days of [1, 2, 2, 2]) {
		t.is((await owner.subscription()).status, 'PAST_DUE');
		await stage.runJobs(days * DAY);
	}

	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(chargesIn(stage), 0);
});

test.serial('after an outage of the service only the retry that is due last is made', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.setCard(stage.savedCard(), 'declines');
	await stage.runJobs(PERIOD);
	stage.clock.advance(6 * DAY);
	for (let minute = 0; minute < 4; minute += 1) {
		await stage.runJobs();
		stage.clock.advance(MINUTE);
	}

	t.is(chargesIn(stage), 2);
	t.is((await owner.subscription()).status, 'PAST_DUE');
});

test.serial('an unreachable gateway is not a failed try: the same try continues later', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.clock.advance(PERIOD);
	const outage = stage.paymob.fail({path: '/intention/', status: 503, times: Number.POSITIVE_INFINITY});
	for (let hour = 0; hour < 3; hour += 1) {
		await stage.runJobs();
		stage.clock.advance(60 * MINUTE);
	}

	t.is((await owner.subscription()).status, 'ACTIVE');
	outage.lift();
	await stage.runJobs();
	t.is((await owner.subscription()).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial(
	'a charge whose callback does not come is inquired about after 15 minutes, and never repeated',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
		stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 503, times: 2});
		await stage.runMinute(PERIOD);
		await stage.runMinute(14 * MINUTE);
		t.is((await owner.subscription()).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
		await stage.runMinute(MINUTE);
		t.is((await owner.subscription()).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
		await stage.runMinute();
		t.is((await owner.subscription()).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
		t.is(chargesIn(stage), 1);
		await stage.deliverAll();
		t.is(stage.heldFor(owner), 2 * GROWTH);
	},
);

test.serial('a charge that the gateway never got is a failed try', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	await stage.runJobs(PERIOD);
	t.is((await owner.subscription()).status, 'ACTIVE');
	await stage.runJobs(15 * MINUTE);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	await stage.runJobs(DAY);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('a charge without an outcome is not repeated, and ends the subscription after the grace', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	stage.paymob.fail({
		path: '/api/ecommerce/orders/transaction_inquiry',
		status: 503,
		times: Number.POSITIVE_INFINITY,
	});
	stage.clock.advance(PERIOD);
	for (let day = 0; day < 8; day += 1) {
		await stage.runMinute();
		stage.clock.advance(DAY);
	}

	t.is(chargesIn(stage), 1);
	t.is((await owner.subscription()).status, 'CANCELED');
	// Its callback comes after all: the money goes back.
	await stage.deliverAll();
	await stage.deliverAll();
	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('the payment of such a charge is found when the gateway answers again, and refunded', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const outage = stage.paymob.fail({
		path: '/api/ecommerce/orders/transaction_inquiry',
		status: 503,
		times: Number.POSITIVE_INFINITY,
	});
	await stage.runMinute(PERIOD);
	await stage.runMinute(8 * DAY);
	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(stage.heldFor(owner), 2 * GROWTH);
	outage.lift();
	await stage.runMinute(15 * MINUTE);
	t.is(stage.heldFor(owner), GROWTH);
	t.is((await owner.subscription()).status, 'CANCELED');
});

test.serial(
	'late success after CANCELED does not reactivate: REVIEW and refund, except within the grace window',
	async (t) => {
		for (const [late, status] of [
			[2 * DAY, 'ACTIVE'],
			[8 * DAY, 'CANCELED'],
		] as const) {
			const stage = await freshStage({hasMoto: false});
			const owner = await stage.subscribed();
			await stage.runJobs(PERIOD);
			const {body} = await owner.caller.post('/portal/billing/renew');
			const {id} = stage.paymob.startPaying(body.sessionId);
			await stage.deliverAll();
			const {db} = stage.portal.services;
			await db('subscriptions')
				.where({organization_id: owner.organization.id})
				.update({status: 'CANCELED', past_due_at: null});
			stage.clock.advance(late);
			stage.paymob.settle(id, true);
			await stage.deliverAll();
			await stage.deliverAll();
			t.is((await owner.subscription()).status, status);
			t.is(stage.heldFor(owner), status === 'ACTIVE' ? 2 * GROWTH : GROWTH);
			t.is((await stage.outcomesOf(owner)).includes('REVIEW'), status === 'CANCELED');
		}
	},
);

test.serial('a checkout that is paid once more after its subscription ended begins no other one', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await stage.subscribed();
	const {id} = stage.paymob.startPaying(owner.checkout.sessionId);
	const {db} = stage.portal.services;
	await db('subscriptions').where({organization_id: owner.organization.id}).update({status: 'CANCELED'});
	stage.paymob.settle(id, true);
	await stage.deliverAll();
	await stage.deliverAll();
	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(stage.heldFor(owner), GROWTH);
	t.true((await stage.outcomesOf(owner)).includes('REVIEW'));
});

test.serial('a renewal that was paid twice is paid once: the other payment goes back', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.setCard(stage.savedCard(), 'declines');
	await stage.runJobs(PERIOD);
	const {body} = await owner.caller.post('/portal/billing/renew');
	stage.paymob.setCard(stage.savedCard(), 'works');
	stage.clock.advance(DAY - 59 * MINUTE);
	const again = await owner.caller.post('/portal/billing/renew');
	await stage.runJobs(59 * MINUTE);
	t.is((await owner.subscription()).status, 'ACTIVE');
	await stage.pay(again.body.sessionId);
	t.is(body.action, 'CHECKOUT');
	t.is(stage.heldFor(owner), 2 * GROWTH);
	t.is((await owner.subscription()).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
});

test.serial('a renewal that is under way does not bring back a subscription that ops ended', async (t) => {
	for (const plan of ['STARTER', null]) {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		await stage.runMinute(PERIOD);
		t.is(stage.heldFor(owner), 2 * GROWTH);
		await admin(stage.portal).put(`/admin/organizations/${owner.organization.id}/plan`, {plan});
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'CANCELED'});
		t.is(await owner.plan(), plan);
		t.is(stage.heldFor(owner), GROWTH);
	}
});

test.serial('nor does a renewal that had expired here, when the bank settles it later', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await stage.subscribed();
	await stage.runJobs(PERIOD);
	const {body} = await owner.caller.post('/portal/billing/renew');
	const {id} = stage.paymob.startPaying(body.sessionId);
	await stage.runJobs(61 * MINUTE);
	t.true((await stage.attemptStatuses(owner)).includes('EXPIRED'));
	await admin(stage.portal).put(`/admin/organizations/${owner.organization.id}/plan`, {plan: 'STARTER'});
	stage.paymob.settle(id, true);
	await stage.deliverAll();
	await stage.deliverAll();
	t.is(await owner.plan(), 'STARTER');
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('while a charge of the period has no outcome, the job makes no other one', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.paymob.setCard(stage.savedCard(), 'declines');
	await stage.runJobs(PERIOD);
	stage.paymob.setCard(stage.savedCard(), 'works');
	stage.clock.advance(DAY - MINUTE);
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	await stage.runMinute(2 * MINUTE);
	t.is(stage.heldFor(owner), GROWTH + SCALE);
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'SCALE', currentPeriodEnd: '2026-05-10T12:00:00.000Z'});
	t.is(stage.heldFor(owner), GROWTH + SCALE);
});

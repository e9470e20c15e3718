import test from 'ava';
import {pay} from './_callbacks.ts';
import {
	activeOf,
	DAY,
	deliverAll,
	freshStage,
	GROWTH,
	heldFor,
	MINUTE,
	outcomesOf,
	type PaymobStage,
	planOf,
	runJobs,
	runMinute,
	savedCard,
	stopStages,
	subscribed,
	subscriptionOf,
} from './_paymob-stage.ts';

test.after.always(stopStages);

const PERIOD = 31 * DAY;

/** How often a saved card was charged, whatever came of it. */
const chargesIn = ({paymob}: PaymobStage): number =>
	paymob.calls.filter(({path}) => path === '/api/acceptance/payments/pay').length;

test.serial(
	'a renewal that fails is PAST_DUE and retried after 1, 3, 5 and 7 days; exhausted, it is CANCELED with STARTER',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.paymob.setCard(savedCard(stage), 'declines');
		stage.clock.advance(PERIOD);
		await runJobs(stage);
		t.like(await subscriptionOf(owner), {
			status: 'PAST_DUE',
			plan: 'GROWTH',
			currentPeriodEnd: '2026-04-10T12:00:00.000Z',
		});
		const seen: number[] = [];
		for (let day = 0; day < 7; day += 1) {
			t.is((await activeOf(owner)).status, 'PAST_DUE', `day ${day}`);
			t.is(await planOf(owner), 'GROWTH');
			stage.clock.advance(DAY - MINUTE);
			await runJobs(stage);
			const before = chargesIn(stage);
			stage.clock.advance(MINUTE);
			await runJobs(stage);
			if (chargesIn(stage) > before) {
				seen.push(day + 1);
			}
		}

		t.deepEqual(seen, [1, 3, 5, 7]);
		t.is(chargesIn(stage), 5);
		t.like(await subscriptionOf(owner), {status: 'CANCELED', scheduledPlan: null});
		t.is(await activeOf(owner), null);
		t.is(await planOf(owner), 'STARTER');
		t.is(heldFor(stage, owner), GROWTH);
		const references = stage.paymob.calls.flatMap(({path, body}) =>
			path === '/v1/intention/' ? [(body as {special_reference: string}).special_reference] : [],
		);
		t.is(new Set(references).size, references.length);
	},
);

test.serial('a later success makes it ACTIVE, and the period is the one that was due', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.setCard(savedCard(stage), 'declines');
	stage.clock.advance(PERIOD);
	await runJobs(stage);
	stage.paymob.setCard(savedCard(stage), 'works');
	stage.clock.advance(DAY);
	await runJobs(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', currentPeriodEnd: '2026-05-10T12:00:00.000Z'});
	t.is(heldFor(stage, owner), 2 * GROWTH);
});

test.serial('without a card that can be charged the schedule is the same and ends CANCELED', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await subscribed(stage);
	stage.clock.advance(PERIOD);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	for (const days of [1, 2, 2, 2]) {
		t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
		stage.clock.advance(days * DAY);
		await runJobs(stage);
	}

	t.is((await subscriptionOf(owner)).status, 'CANCELED');
	t.is(chargesIn(stage), 0);
});

test.serial('after an outage of the service only the retry that is due last is made', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.setCard(savedCard(stage), 'declines');
	stage.clock.advance(PERIOD);
	await runJobs(stage);
	stage.clock.advance(6 * DAY);
	for (let minute = 0; minute < 4; minute += 1) {
		await runJobs(stage);
		stage.clock.advance(MINUTE);
	}

	t.is(chargesIn(stage), 2);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
});

test.serial('a gateway that is away is no failed try: the same one goes on when it is back', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.clock.advance(PERIOD);
	const outage = stage.paymob.fail({path: '/intention/', status: 503, times: Number.POSITIVE_INFINITY});
	for (let hour = 0; hour < 3; hour += 1) {
		await runJobs(stage);
		stage.clock.advance(60 * MINUTE);
	}

	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	outage.lift();
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
	t.is(heldFor(stage, owner), 2 * GROWTH);
});

test.serial(
	'a charge whose callback does not come is inquired about after 15 minutes, and never repeated',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
		stage.paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 503, times: 2});
		stage.clock.advance(PERIOD);
		await runMinute(stage.portal);
		stage.clock.advance(14 * MINUTE);
		await runMinute(stage.portal);
		t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
		stage.clock.advance(MINUTE);
		await runMinute(stage.portal);
		t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
		await runMinute(stage.portal);
		t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
		t.is(chargesIn(stage), 1);
		await deliverAll(stage);
		t.is(heldFor(stage, owner), 2 * GROWTH);
	},
);

test.serial('a charge that the gateway never got is a failed try', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	stage.clock.advance(PERIOD);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	stage.clock.advance(15 * MINUTE);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	stage.clock.advance(DAY);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	t.is(heldFor(stage, owner), 2 * GROWTH);
});

test.serial(
	'a charge that nobody ever answers for is not repeated, and ends the subscription after the grace',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
		stage.paymob.fail({
			path: '/api/ecommerce/orders/transaction_inquiry',
			status: 503,
			times: Number.POSITIVE_INFINITY,
		});
		stage.clock.advance(PERIOD);
		for (let day = 0; day < 8; day += 1) {
			await runMinute(stage.portal);
			stage.clock.advance(DAY);
		}

		t.is(chargesIn(stage), 1);
		t.is((await subscriptionOf(owner)).status, 'CANCELED');
		// Its callback comes after all: the money goes back.
		await deliverAll(stage);
		await deliverAll(stage);
		t.is((await subscriptionOf(owner)).status, 'CANCELED');
		t.is(heldFor(stage, owner), GROWTH);
	},
);

test.serial('what such a charge took is found when the gateway answers again, and given back', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	const outage = stage.paymob.fail({
		path: '/api/ecommerce/orders/transaction_inquiry',
		status: 503,
		times: Number.POSITIVE_INFINITY,
	});
	stage.clock.advance(PERIOD);
	await runMinute(stage.portal);
	stage.clock.advance(8 * DAY);
	await runMinute(stage.portal);
	t.is((await subscriptionOf(owner)).status, 'CANCELED');
	t.is(heldFor(stage, owner), 2 * GROWTH);
	outage.lift();
	stage.clock.advance(15 * MINUTE);
	await runMinute(stage.portal);
	t.is(heldFor(stage, owner), GROWTH);
	t.is((await subscriptionOf(owner)).status, 'CANCELED');
});

test.serial(
	'late success after CANCELED does not reactivate: REVIEW and refund, except within the grace window',
	async (t) => {
		for (const [late, status] of [
			[2 * DAY, 'ACTIVE'],
			[8 * DAY, 'CANCELED'],
		] as const) {
			const stage = await freshStage({hasMoto: false});
			const owner = await subscribed(stage);
			stage.clock.advance(PERIOD);
			await runJobs(stage);
			const {body} = await owner.caller.post('/portal/billing/renew');
			const {id} = stage.paymob.startPaying(body.sessionId);
			await deliverAll(stage);
			const {db} = stage.portal.services;
			await db('subscriptions')
				.where({organization_id: owner.organization.id})
				.update({status: 'CANCELED', past_due_at: null});
			stage.clock.advance(late);
			stage.paymob.settle(id, true);
			await deliverAll(stage);
			await deliverAll(stage);
			t.is((await subscriptionOf(owner)).status, status);
			t.is(heldFor(stage, owner), status === 'ACTIVE' ? 2 * GROWTH : GROWTH);
			t.is((await outcomesOf(stage, owner)).includes('REVIEW'), status === 'CANCELED');
		}
	},
);

test.serial('a renewal that was paid twice is paid once: the other payment goes back', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.paymob.setCard(savedCard(stage), 'declines');
	stage.clock.advance(PERIOD);
	await runJobs(stage);
	const {body} = await owner.caller.post('/portal/billing/renew');
	stage.paymob.setCard(savedCard(stage), 'works');
	stage.clock.advance(DAY - 59 * MINUTE);
	const again = await owner.caller.post('/portal/billing/renew');
	stage.clock.advance(59 * MINUTE);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	await pay(stage, again.body.sessionId);
	t.is(body.action, 'CHECKOUT');
	t.is(heldFor(stage, owner), 2 * GROWTH);
	t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-05-10T12:00:00.000Z');
});

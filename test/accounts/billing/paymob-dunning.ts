import test from 'ava';
import {freshSubscriber, GROWTH, type PaymobStage, SCALE, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE, type Whose} from './_stage.ts';

test.after.always(stopStages);

const PERIOD = 31 * DAY;
const DUE = '2026-04-10T12:00:00.000Z';
const NEXT = '2026-05-10T12:00:00.000Z';

/** How often a saved card was charged, whatever came of it. */
const chargesIn = ({paymob}: PaymobStage): number =>
	paymob.calls.filter(({path}) => path === '/api/acceptance/payments/pay').length;

/** A subscription whose first renewal failed, because its card declines from then on. */
const pastDue = async () => {
	const fresh = await freshSubscriber();
	fresh.stage.setCard('declines');
	await fresh.stage.runJobs(PERIOD);
	return fresh;
};

/** The service says that a subscription has ended, as it does after the grace. */
const markCanceled = ({portal}: PaymobStage, {organization: {id}}: Whose) =>
	portal.services.db('subscriptions').where({organization_id: id}).update({status: 'CANCELED', past_due_at: null});

test.serial('a renewal that fails is PAST_DUE, retried on days 1, 3, 5 and 7, then CANCELED on STARTER', async (t) => {
	const {stage, owner} = await pastDue();
	t.like(await owner.subscription(), {status: 'PAST_DUE', plan: 'GROWTH', currentPeriodEnd: DUE});
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
	t.like(await owner.state(), {status: 'CANCELED', scheduledPlan: null, uses: 'STARTER', held: GROWTH});
	t.is(await owner.activeSubscription(), null);
	const references = stage.paymob.calls.flatMap(({path, body}) =>
		path === '/v1/intention/' ? [(body as {special_reference: string}).special_reference] : [],
	);
	t.is(new Set(references).size, references.length);
});

test.serial('without a card that can be charged the schedule is the same and ends CANCELED', async (t) => {
	const {stage, owner} = await freshSubscriber({hasMoto: false});
	await stage.runJobs(PERIOD);
	for (const days of [1, 2, 2, 2]) {
		t.is((await owner.subscription()).status, 'PAST_DUE');
		await stage.runJobs(days * DAY);
	}

	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(chargesIn(stage), 0);
});

test.serial('after an outage of the service only the retry that is due last is made', async (t) => {
	const {stage, owner} = await pastDue();
	stage.clock.advance(6 * DAY);
	await stage.keepRunning(4, MINUTE);
	t.is(chargesIn(stage), 2);
	t.is((await owner.subscription()).status, 'PAST_DUE');
});

test.serial('an unreachable gateway is not a failed try: the same try continues later', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.advance(PERIOD);
	const outage = stage.paymob.fail({path: '/intention/', status: 503, times: Number.POSITIVE_INFINITY});
	await stage.keepRunning(3, 60 * MINUTE);
	t.is((await owner.subscription()).status, 'ACTIVE');
	outage.lift();
	await stage.runJobs();
	t.like(await owner.state(), {currentPeriodEnd: NEXT, held: 2 * GROWTH});
});

test.serial('a charge without a callback is inquired about after 15 minutes, and never repeated', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	stage.failInquiries(2);
	await stage.runMinute(PERIOD);
	// The second inquiry fails, too.
	for (const minutes of [14, 1]) {
		await stage.runMinute(minutes * MINUTE);
		t.is((await owner.subscription()).currentPeriodEnd, DUE);
	}

	await stage.runMinute();
	t.is((await owner.subscription()).currentPeriodEnd, NEXT);
	t.is(chargesIn(stage), 1);
	await stage.deliverAll();
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('a charge that the gateway never got is a failed try', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.paymob.fail({path: '/api/acceptance/payments/pay', drop: true});
	for (const [seconds, status] of [
		[PERIOD, 'ACTIVE'],
		[15 * MINUTE, 'PAST_DUE'],
		[DAY, 'ACTIVE'],
	] as const) {
		await stage.runJobs(seconds);
		t.is((await owner.subscription()).status, status);
	}

	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('a charge without an outcome is not repeated, and ends the subscription after the grace', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	stage.failInquiries();
	stage.clock.advance(PERIOD);
	await stage.keepRunning(8, DAY, stage.runMinute);
	t.is(chargesIn(stage), 1);
	t.is((await owner.subscription()).status, 'CANCELED');
	// Its callback comes after all: the money goes back.
	await stage.deliverAll();
	await stage.deliverAll();
	t.like(await owner.state(), {status: 'CANCELED', held: GROWTH});
});

test.serial('the payment of such a charge is found when the gateway answers again, and refunded', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.loseChargeAnswer();
	const outage = stage.failInquiries();
	await stage.runMinute(PERIOD);
	await stage.runMinute(8 * DAY);
	t.like(await owner.state(), {status: 'CANCELED', held: 2 * GROWTH});
	outage.lift();
	await stage.runMinute(15 * MINUTE);
	t.like(await owner.state(), {status: 'CANCELED', held: GROWTH});
});

test.serial('a late success does not undo CANCELED: REVIEW and refund, except within the grace', async (t) => {
	for (const [late, status, held] of [
		[2 * DAY, 'ACTIVE', 2 * GROWTH],
		[8 * DAY, 'CANCELED', GROWTH],
	] as const) {
		const {stage, owner} = await freshSubscriber({hasMoto: false});
		await stage.runJobs(PERIOD);
		const {id} = stage.paymob.startPaying((await owner.renew()).body.sessionId);
		await stage.deliverAll();
		await markCanceled(stage, owner);
		stage.clock.advance(late);
		await stage.settle(id);
		const state = await owner.state();
		t.like(state, {status, held});
		t.is(state.outcomes.includes('REVIEW'), status === 'CANCELED');
	}
});

test.serial('a checkout that is paid once more after its subscription ended begins no other one', async (t) => {
	const {stage, owner} = await freshSubscriber({hasMoto: false});
	const {id} = stage.paymob.startPaying(owner.checkout.sessionId);
	await markCanceled(stage, owner);
	await stage.settle(id);
	const state = await owner.state();
	t.like(state, {status: 'CANCELED', held: GROWTH});
	t.regex(state.outcomes, /REVIEW/);
});

test.serial('a renewal that was paid twice is paid once: the other payment goes back', async (t) => {
	const {stage, owner} = await pastDue();
	t.is((await owner.renew()).body.action, 'CHECKOUT');
	stage.setCard('works');
	stage.clock.advance(DAY - 59 * MINUTE);
	const again = await owner.renew();
	await stage.runJobs(59 * MINUTE);
	const renewed = {status: 'ACTIVE', currentPeriodEnd: NEXT, held: 2 * GROWTH};
	t.like(await owner.state(), renewed);
	await stage.pay(again.body.sessionId);
	t.like(await owner.state(), renewed);
});

test.serial('a renewal that is under way does not bring back a subscription that ops ended', async (t) => {
	for (const plan of ['STARTER', null]) {
		const {stage, owner} = await freshSubscriber();
		await stage.runMinute(PERIOD);
		t.is(stage.heldFor(owner), 2 * GROWTH);
		await stage.setPlan(owner, plan);
		await stage.deliverAll();
		t.like(await owner.state(), {status: 'CANCELED', uses: plan, held: GROWTH});
	}
});

test.serial('nor does a renewal that had expired here, when the bank settles it later', async (t) => {
	const {stage, owner} = await freshSubscriber({hasMoto: false});
	await stage.runJobs(PERIOD);
	const {id} = stage.paymob.startPaying((await owner.renew()).body.sessionId);
	await stage.runJobs(61 * MINUTE);
	t.true((await stage.attemptStatuses(owner)).includes('EXPIRED'));
	await stage.setPlan(owner, 'STARTER');
	await stage.settle(id);
	t.like(await owner.state(), {uses: 'STARTER', held: GROWTH});
});

test.serial('while a charge of the period has no outcome, the job makes no other one', async (t) => {
	const {stage, owner} = await pastDue();
	stage.setCard('works');
	stage.clock.advance(DAY - MINUTE);
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	await stage.runMinute(2 * MINUTE);
	t.is(stage.heldFor(owner), GROWTH + SCALE);
	await stage.deliverAll();
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'SCALE', currentPeriodEnd: NEXT, held: GROWTH + SCALE});
});

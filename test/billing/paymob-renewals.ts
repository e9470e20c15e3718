import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {pay} from './_callbacks.ts';
import {
	changePlan,
	DAY,
	deliverAll,
	freshStage,
	GROWTH,
	heldFor,
	invoicesOf,
	MINUTE,
	newOwner,
	planOf,
	runJobs,
	runMinute,
	SOLO,
	stopStages,
	subscribed,
	subscriptionOf,
} from './_paymob-stage.ts';

test.after.always(stopStages);

test.serial('a renewal charges the saved card; its callback begins the next period with an invoice', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.clock.set(new Date('2026-04-10T11:59:00.000Z'));
	await runJobs(stage);
	t.is(heldFor(stage, owner), GROWTH);
	stage.clock.advance(MINUTE);
	await runMinute(stage.portal);
	t.is(heldFor(stage, owner), 2 * GROWTH);
	t.is((await subscriptionOf(owner)).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		currentPeriodStart: '2026-04-10T12:00:00.000Z',
		currentPeriodEnd: '2026-05-10T12:00:00.000Z',
	});
	t.is(await planOf(owner), 'GROWTH');
	const invoices = await invoicesOf(owner);
	t.is(invoices.length, 2);
	t.like(invoices[0], {amount: GROWTH, periodStart: '2026-04-10T12:00:00.000Z', periodEnd: '2026-05-10T12:00:00.000Z'});
	await runJobs(stage);
	t.is(heldFor(stage, owner), 2 * GROWTH);
});

test.serial('periods are calendar months counted from the first day: 31 January, 28 February, 31 March', async (t) => {
	const stage = await freshStage({at: new Date('2026-01-31T09:30:00.000Z')});
	const owner = await subscribed(stage);
	const ends: string[] = [];
	for (let month = 0; month < 3; month += 1) {
		const {currentPeriodEnd} = await subscriptionOf(owner);
		ends.push(currentPeriodEnd);
		stage.clock.set(new Date(currentPeriodEnd));
		await runJobs(stage);
	}

	t.deepEqual(ends, ['2026-02-28T09:30:00.000Z', '2026-03-31T09:30:00.000Z', '2026-04-30T09:30:00.000Z']);
	t.is((await invoicesOf(owner)).length, 4);
});

test.serial(
	'a service that was away for two months charges once, and the period that follows ends in the future',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		stage.clock.advance(75 * DAY);
		for (let minute = 0; minute < 5; minute += 1) {
			await runJobs(stage);
			stage.clock.advance(MINUTE);
		}

		t.is(heldFor(stage, owner), 2 * GROWTH);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', currentPeriodEnd: '2026-06-10T12:00:00.000Z'});
	},
);

test.serial('a scheduled downgrade is what the renewal charges and switches to', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	await changePlan(owner, 'SOLO');
	stage.clock.advance(31 * DAY);
	await runJobs(stage);
	t.like(await subscriptionOf(owner), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is(heldFor(stage, owner), GROWTH + SOLO);
	t.is(await planOf(owner), 'SOLO');
});

test.serial(
	'cancelAtPeriodEnd ends the subscription with its period, charges nothing and leaves STARTER',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		t.is((await owner.caller.post('/portal/billing/cancel')).status, 200);
		stage.clock.advance(31 * DAY - MINUTE);
		await runJobs(stage);
		t.is(await planOf(owner), 'GROWTH');
		stage.clock.advance(MINUTE);
		await runJobs(stage);
		t.like(await subscriptionOf(owner), {status: 'CANCELED', cancelAtPeriodEnd: false, scheduledPlan: null});
		t.is(await planOf(owner), 'STARTER');
		t.is(heldFor(stage, owner), GROWTH);
		t.is((await owner.caller.post('/portal/billing/resume')).status, 409);
	},
);

test.serial('a resumed subscription is renewed; a change to STARTER ends it', async (t) => {
	const stage = await freshStage();
	const [resumed, leaving] = [await subscribed(stage), await subscribed(stage)];
	await resumed.caller.post('/portal/billing/cancel');
	await resumed.caller.post('/portal/billing/resume');
	t.is((await changePlan(leaving, 'STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	stage.clock.advance(31 * DAY);
	await runJobs(stage);
	t.is((await subscriptionOf(resumed)).status, 'ACTIVE');
	t.is(heldFor(stage, resumed), 2 * GROWTH);
	t.is((await subscriptionOf(leaving)).status, 'CANCELED');
	t.is(heldFor(stage, leaving), GROWTH);
});

test.serial('a plan that ops set is renewed by nobody; canceled, it ends on a monthly anniversary', async (t) => {
	const stage = await freshStage();
	const owner = await newOwner(stage);
	await admin(stage.portal).put(`/admin/organizations/${owner.organization.id}/plan`, {plan: 'SCALE'});
	stage.clock.advance(100 * DAY);
	await runJobs(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', gateway: 'MANUAL'});
	await owner.caller.post('/portal/billing/cancel');
	const {currentPeriodEnd} = await subscriptionOf(owner);
	t.is(currentPeriodEnd, '2026-07-10T12:00:00.000Z');
	stage.clock.set(new Date(currentPeriodEnd));
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'CANCELED');
	t.is(await planOf(owner), 'STARTER');
});

test.serial(
	'an organization suspended or deleted is charged no renewal: its subscription ends with the period',
	async (t) => {
		const stage = await freshStage();
		const owner = await subscribed(stage);
		await admin(stage.portal).post(`/admin/organizations/${owner.organization.id}/suspend`);
		await runJobs(stage);
		const {db} = stage.portal.services;
		const row = () => db('subscriptions').where({organization_id: owner.organization.id}).first();
		t.like(await row(), {status: 'ACTIVE', cancel_at_period_end: true});
		stage.clock.advance(31 * DAY);
		await runJobs(stage);
		t.like(await row(), {status: 'CANCELED'});
		t.is(heldFor(stage, owner), GROWTH);
	},
);

test.serial('one that was suspended in the minute of its renewal is not charged either', async (t) => {
	const stage = await freshStage();
	const owner = await subscribed(stage);
	stage.clock.advance(31 * DAY);
	await admin(stage.portal).post(`/admin/organizations/${owner.organization.id}/suspend`);
	await runJobs(stage);
	t.is(heldFor(stage, owner), GROWTH);
});

test.serial('the renewal can be paid by a checkout, where no card can be charged', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await subscribed(stage);
	t.is((await owner.caller.post('/portal/billing/renew')).status, 409);
	stage.clock.advance(31 * DAY);
	await runJobs(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	const {status, body} = await owner.caller.post('/portal/billing/renew');
	t.is(status, 200);
	t.like(body, {action: 'CHECKOUT', gateway: 'GATEWAY_B'});
	await pay(stage, body.sessionId);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', currentPeriodEnd: '2026-05-10T12:00:00.000Z'});
	t.is(heldFor(stage, owner), 2 * GROWTH);
	t.is((await owner.caller.post('/portal/billing/renew')).status, 409);
});

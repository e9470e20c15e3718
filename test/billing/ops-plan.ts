import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {ops} from '../helpers/portal.ts';
import {startedFor} from '../helpers/started.ts';
import {attemptStatuses, entryOf, everythingOf} from './_billing-rows.ts';
import {
	changePlan,
	checkout,
	DAY,
	deliverAll,
	idsOf,
	newOwner,
	pass,
	planOf,
	startStripeStage,
	subscribed,
	subscriptionOf,
} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

type Whose = {organization: {id: string}};
const byOperator = ({organization}: Whose, plan: string | null) =>
	admin(stage.portal).put(`/admin/organizations/${organization.id}/plan`, {plan});
const byOps = ({organization}: Whose, plan: string | null) =>
	ops(stage.portal).caller.post(`/portal/admin/billing/organizations/${organization.id}/plan`, {plan});

for (const [who, setPlan] of Object.entries({'the operator': byOperator, ops: byOps})) {
	test.serial(`ops direct set on a paying organization by ${who}: what it paid for ends at the gateway`, async (t) => {
		const owner = await subscribed(stage, 'SOLO');
		const {subscription, customer} = await idsOf(stage, owner);
		await changePlan(owner, 'STARTER');
		t.is((await setPlan(owner, 'scale')).status, 200);
		t.is(stage.stripe.account.subscriptions.get(subscription)?.status, 'canceled');
		t.like(await subscriptionOf(owner), {
			plan: 'SCALE',
			status: 'ACTIVE',
			gateway: 'MANUAL',
			cancelAtPeriodEnd: false,
			scheduledPlan: null,
			currentPeriodEnd: null,
		});
		t.is(await planOf(owner), 'SCALE');
		t.deepEqual((await everythingOf(stage, owner)).organization, {
			plan: 'SCALE',
			entitled_until: null,
			status: 'ACTIVE',
		});
		t.like((await everythingOf(stage, owner)).subscription[0], {
			gateway_subscription_id: null,
			gateway_customer_id: customer,
		});
	});
}

test.serial('late webhooks of a subscription that ops replaced change nothing and give nothing back', async (t) => {
	const owner = await subscribed(stage, 'SOLO');
	const {subscription} = await idsOf(stage, owner);
	const told = stage.stripe.history.filter(({body}) => body.includes(subscription));
	await byOperator(owner, 'SCALE');
	const before = await everythingOf(stage, owner);
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	for (const {type, object} of told) {
		const event = stage.stripe.event(type, object);
		await stage.stripe.send(stage.portal, event);
		t.like(await entryOf(stage, event), {outcome: 'IGNORED'});
	}

	t.deepEqual(await everythingOf(stage, owner), before);
	t.true(
		stage.stripe.charges
			.filter(({organizationId}) => organizationId === owner.organization.id)
			.every(({refunded}) => refunded === 0),
	);
});

for (const plan of ['STARTER', null]) {
	test.serial(
		`${plan ?? 'no plan'} set by ops on a paying organization ends what it paid for, also for late webhooks`,
		async (t) => {
			const owner = await subscribed(stage);
			const {subscription} = await idsOf(stage, owner);
			t.is((await byOps(owner, plan)).body.plan, plan);
			t.is(stage.stripe.account.subscriptions.get(subscription)?.status, 'canceled');
			t.like(await subscriptionOf(owner), {status: 'CANCELED'});
			await deliverAll(stage);
			t.is(await planOf(owner), plan);
			t.like(await subscriptionOf(owner), {status: 'CANCELED'});
		},
	);
}

test.serial(
	'an open checkout is closed by a plan that ops set, and given back where it is paid all the same',
	async (t) => {
		const owner = await newOwner(stage);
		const open = (await checkout(owner)).body.sessionId;
		stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500});
		await byOperator(owner, 'SCALE');
		await stage.portal.services.background.settle();
		t.deepEqual(await attemptStatuses(stage, owner), ['SUPERSEDED']);
		stage.stripe.pay(open);
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {plan: 'SCALE', gateway: 'MANUAL', status: 'ACTIVE'});
		t.deepEqual(await attemptStatuses(stage, owner), ['REVIEW']);
		t.is(stage.stripe.charges.at(-1)?.refunded, 7900);
	},
);

test.serial('change-plan from a plan that ops set: the row stays until the payment replaces it', async (t) => {
	const owner = await newOwner(stage);
	await byOperator(owner, 'SOLO');
	const {status, body} = await changePlan(owner, 'GROWTH');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADE_CHECKOUT', gateway: 'GATEWAY_A', subscription: {plan: 'SOLO', gateway: 'MANUAL'}});
	t.is(await planOf(owner), 'SOLO');
	stage.stripe.pay(body.sessionId);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'GROWTH', gateway: 'GATEWAY_A', status: 'ACTIVE'});
	t.is(await planOf(owner), 'GROWTH');
});

test.serial(
	'change-plan in a currency whose gateway is off is 503, and one to the plan that ops set 409',
	async (t) => {
		const owner = await newOwner(stage);
		await byOperator(owner, 'SOLO');
		const asked = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH', currency: 'EGP'});
		t.is(asked.status, 503);
		t.is((await changePlan(owner, 'SOLO')).status, 409);
	},
);

test.serial('a plan that ops set ends with its month when it is canceled, and resume takes that back', async (t) => {
	const owner = await newOwner(stage);
	await byOperator(owner, 'SCALE');
	const start = stage.portal.clock.now();
	pass(stage, 3);
	const {body} = await owner.caller.post('/portal/billing/cancel');
	const end = new Date(start);
	end.setUTCMonth(end.getUTCMonth() + 1);
	t.like(body.subscription, {cancelAtPeriodEnd: true, currentPeriodEnd: end.toISOString()});
	t.deepEqual((await owner.caller.post('/portal/billing/cancel')).body, body);
	const resumed = (await owner.caller.post('/portal/billing/resume')).body.subscription;
	t.like(resumed, {cancelAtPeriodEnd: false, currentPeriodEnd: null});
	t.is((await changePlan(owner, 'STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	t.like(await subscriptionOf(owner), {cancelAtPeriodEnd: true, scheduledPlan: 'STARTER'});
	t.is((await changePlan(owner, 'SCALE')).body.action, 'DOWNGRADE_CANCELLED');
	t.like(await subscriptionOf(owner), {cancelAtPeriodEnd: false, scheduledPlan: null, currentPeriodEnd: null});
});

test.serial('a plan set by ops takes the grace of a failed renewal away', async (t) => {
	const owner = await subscribed(stage);
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	pass(stage, 32);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	await byOperator(owner, 'GROWTH');
	stage.portal.clock.advance(30 * DAY);
	t.is((await owner.caller.get('/portal/billing/subscription/active')).body.subscription.status, 'ACTIVE');
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, false);
});

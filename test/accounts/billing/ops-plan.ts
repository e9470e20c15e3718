import test from 'ava';
import {ops} from '../../helpers/portal.ts';
import {startedFor} from '../../helpers/started.ts';
import {DAY, type Whose} from './_stage.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const byOperator = (whose: Whose, plan: string | null) => stage.setPlan(whose, plan);
const byOps = ({organization}: Whose, plan: string | null) =>
	ops(stage.portal).caller.post(`/portal/admin/billing/organizations/${organization.id}/plan`, {plan});

for (const [who, setPlan] of Object.entries({'the operator': byOperator, ops: byOps})) {
	test.serial(`a plan set by ${who} ends the paid subscription at the gateway`, async (t) => {
		const owner = await stage.subscribed('SOLO');
		const {subscription, customer} = await stage.idsOf(owner);
		await owner.changePlan('STARTER');
		t.is((await setPlan(owner, 'scale')).status, 200);
		t.is(stage.stripe.account.subscriptions.get(subscription)?.status, 'canceled');
		const open = {cancelAtPeriodEnd: false, scheduledPlan: null, currentPeriodEnd: null};
		t.like(await owner.state(), {plan: 'SCALE', uses: 'SCALE', status: 'ACTIVE', gateway: 'MANUAL', ...open});
		const rows = await stage.everythingOf(owner);
		t.deepEqual(rows.organization, {plan: 'SCALE', entitled_until: null, status: 'ACTIVE'});
		t.like(rows.subscription[0], {gateway_subscription_id: null, gateway_customer_id: customer});
	});
}

test.serial('late webhooks of a subscription that ops replaced change and refund nothing', async (t) => {
	const owner = await stage.subscribed('SOLO');
	const {subscription} = await stage.idsOf(owner);
	const earlier = stage.stripe.history.filter(({body}) => body.includes(subscription));
	await byOperator(owner, 'SCALE');
	const before = await stage.everythingOf(owner);
	t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
	for (const {type, object} of earlier) {
		const event = stage.stripe.event(type, object);
		await stage.stripe.send(stage.portal, event);
		t.like(await stage.entryOf(event), {outcome: 'IGNORED'});
	}

	t.deepEqual(await stage.everythingOf(owner), before);
	t.true(stage.chargesOf(owner).every(({refunded}) => refunded === 0));
});

for (const plan of ['STARTER', null]) {
	test.serial(`${plan ?? 'no plan'} set by ops ends a paid subscription, also for late webhooks`, async (t) => {
		const owner = await stage.subscribed();
		const {subscription} = await stage.idsOf(owner);
		t.is((await byOps(owner, plan)).body.plan, plan);
		t.is(stage.stripe.account.subscriptions.get(subscription)?.status, 'canceled');
		t.like(await owner.subscription(), {status: 'CANCELED'});
		await stage.deliverAll();
		t.like(await owner.state(), {status: 'CANCELED', uses: plan});
	});
}

test.serial('a plan that ops set closes an open checkout, and one that is paid nevertheless is refunded', async (t) => {
	const owner = await stage.atCheckout();
	stage.stripe.fail({method: 'POST', path: '/checkout/sessions/:id/expire', status: 500});
	await byOperator(owner, 'SCALE');
	await stage.portal.services.background.settle();
	t.deepEqual(await stage.attemptStatuses(owner), ['SUPERSEDED']);
	await stage.pay(owner.checkout.sessionId);
	t.like(await owner.state(), {plan: 'SCALE', gateway: 'MANUAL', status: 'ACTIVE', attempts: 'REVIEW', held: 0});
	t.is(stage.stripe.charges.at(-1)?.refunded, 7900);
});

test.serial('change-plan from a plan that ops set: the row stays until the payment replaces it', async (t) => {
	const owner = await stage.newOwner();
	await byOperator(owner, 'SOLO');
	const {status, body} = await owner.changePlan('GROWTH');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADE_CHECKOUT', gateway: 'GATEWAY_A', subscription: {plan: 'SOLO', gateway: 'MANUAL'}});
	t.is(await owner.plan(), 'SOLO');
	await stage.pay(body.sessionId);
	t.like(await owner.state(), {plan: 'GROWTH', uses: 'GROWTH', gateway: 'GATEWAY_A', status: 'ACTIVE'});
});

test.serial('change-plan without the gateway of the currency is 503, and to the plan that ops set 409', async (t) => {
	const owner = await stage.newOwner();
	await byOperator(owner, 'SOLO');
	const asked = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH', currency: 'EGP'});
	t.is(asked.status, 503);
	t.is((await owner.changePlan('SOLO')).status, 409);
});

test.serial('a plan that ops set ends with its month when it is canceled, and can be resumed', async (t) => {
	const owner = await stage.newOwner();
	await byOperator(owner, 'SCALE');
	const end = stage.portal.clock.now();
	end.setUTCMonth(end.getUTCMonth() + 1);
	stage.pass(3);
	const {body} = await owner.cancel();
	t.like(body.subscription, {cancelAtPeriodEnd: true, currentPeriodEnd: end.toISOString()});
	t.deepEqual((await owner.cancel()).body, body);
	t.like((await owner.resume()).body.subscription, {cancelAtPeriodEnd: false, currentPeriodEnd: null});
	t.is((await owner.changePlan('STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	t.like(await owner.subscription(), {cancelAtPeriodEnd: true, scheduledPlan: 'STARTER'});
	t.is((await owner.changePlan('SCALE')).body.action, 'DOWNGRADE_CANCELLED');
	t.like(await owner.subscription(), {cancelAtPeriodEnd: false, scheduledPlan: null, currentPeriodEnd: null});
});

test.serial('a plan set by ops ends the grace of a failed renewal', async (t) => {
	const owner = await stage.pastDue(32);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	await byOperator(owner, 'GROWTH');
	stage.portal.clock.advance(30 * DAY);
	t.is((await owner.activeSubscription()).status, 'ACTIVE');
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, false);
});

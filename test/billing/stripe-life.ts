import test from 'ava';
import {startedFor} from '../helpers/started.ts';
import {deliverAll, newOwner, planOf, startStripeStage, subscribed, subscriptionOf} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

test.serial('a checkout opens a hosted page, and only what the gateway tells activates the subscription', async (t) => {
	const owner = await newOwner(stage);
	t.deepEqual((await owner.caller.get('/portal/billing/subscription')).body, {subscription: null});
	const opened = await owner.caller.post('/portal/billing/checkout-session', {plan: 'growth', currency: 'USD'});
	t.is(opened.status, 200);
	t.like(opened.body, {action: 'CHECKOUT', gateway: 'GATEWAY_A', subscription: {status: 'INACTIVE', plan: 'GROWTH'}});
	t.true(opened.body.checkoutUrl.startsWith(stage.stripe.url));
	t.is(await planOf(owner), null);

	stage.stripe.pay(opened.body.sessionId);
	t.is((await subscriptionOf(owner)).status, 'INACTIVE');
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	t.like(await subscriptionOf(owner), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		gateway: 'GATEWAY_A',
		cancelAtPeriodEnd: false,
	});
	t.is(await planOf(owner), 'GROWTH');
	const {body: invoices} = await owner.caller.get('/portal/billing/invoices');
	t.is(invoices.total, 1);
	t.like(invoices.data[0], {plan: 'GROWTH', amount: 7900, currency: 'USD'});
	t.deepEqual((await owner.caller.get(`/portal/billing/invoices/${invoices.data[0].id}`)).body, invoices.data[0]);
});

test.serial('an upgrade is in force when the gateway has told it; a downgrade with the next period', async (t) => {
	const owner = await subscribed(stage, 'SOLO');
	const upgraded = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
	t.deepEqual([upgraded.status, upgraded.body.action, upgraded.body.checkoutUrl], [200, 'UPGRADED', null]);
	t.is(await planOf(owner), 'SOLO');
	await deliverAll(stage);
	t.is(await planOf(owner), 'GROWTH');

	const lowered = await owner.caller.post('/portal/billing/change-plan', {plan: 'SOLO'});
	t.like(lowered.body, {action: 'SCHEDULED_DOWNGRADE', subscription: {plan: 'GROWTH', scheduledPlan: 'SOLO'}});
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'GROWTH', scheduledPlan: 'SOLO'});
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is(await planOf(owner), 'SOLO');
});

test.serial('a cancellation ends with the period, and can be taken back until then', async (t) => {
	const owner = await subscribed(stage);
	t.is((await owner.caller.post('/portal/billing/resume')).status, 409);
	for (const _ of [1, 2]) {
		t.like((await owner.caller.post('/portal/billing/cancel')).body.subscription, {cancelAtPeriodEnd: true});
	}

	await deliverAll(stage);
	t.like((await owner.caller.post('/portal/billing/resume')).body.subscription, {cancelAtPeriodEnd: false});
	await owner.caller.post('/portal/billing/cancel');
	await deliverAll(stage);
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'CANCELED', cancelAtPeriodEnd: false});
	t.is(await planOf(owner), 'STARTER');
	t.deepEqual((await owner.caller.get('/portal/billing/subscription/active')).body, {subscription: null});
});

test.serial(
	'a scheduled downgrade is canceled by choosing the current plan, which otherwise is a conflict',
	async (t) => {
		const owner = await subscribed(stage);
		const same = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
		t.is(same.status, 409);
		t.is(
			(await owner.caller.post('/portal/billing/change-plan', {plan: 'STARTER'})).body.action,
			'SCHEDULED_DOWNGRADE',
		);
		t.like(await subscriptionOf(owner), {cancelAtPeriodEnd: true, scheduledPlan: 'STARTER'});
		const kept = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
		t.like(kept.body, {action: 'DOWNGRADE_CANCELLED', subscription: {cancelAtPeriodEnd: false, scheduledPlan: null}});
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', cancelAtPeriodEnd: false, scheduledPlan: null});
	},
);

test.serial('a renewal that fails keeps the plan for seven days, whatever the row says then', async (t) => {
	const owner = await subscribed(stage);
	const {gateway_customer_id: customer} = await stage.portal.services
		.db('subscriptions')
		.where({organization_id: owner.organization.id})
		.first();
	stage.stripe.setCard(customer, 'declines');
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, false);
	t.is((await owner.caller.get('/portal/billing/subscription/active')).body.subscription.status, 'PAST_DUE');

	stage.portal.clock.advance(7 * 86_400);
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, true);
	t.deepEqual((await owner.caller.get('/portal/billing/subscription/active')).body, {subscription: null});
});

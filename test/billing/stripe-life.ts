import test from 'ava';
import {startedFor} from '../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

test.serial("a checkout opens a hosted page, and only the gateway's event activates the subscription", async (t) => {
	const owner = await stage.newOwner();
	t.deepEqual((await owner.caller.get('/portal/billing/subscription')).body, {subscription: null});
	const opened = await owner.caller.post('/portal/billing/checkout-session', {plan: 'growth', currency: 'USD'});
	t.is(opened.status, 200);
	t.like(opened.body, {action: 'CHECKOUT', gateway: 'GATEWAY_A', subscription: {status: 'INACTIVE', plan: 'GROWTH'}});
	t.true(opened.body.checkoutUrl.startsWith(stage.stripe.url));
	t.is(await owner.plan(), null);

	stage.stripe.pay(opened.body.sessionId);
	t.is((await owner.subscription()).status, 'INACTIVE');
	t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
	t.like(await owner.subscription(), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		gateway: 'GATEWAY_A',
		cancelAtPeriodEnd: false,
	});
	t.is(await owner.plan(), 'GROWTH');
	const {body: invoices} = await owner.caller.get('/portal/billing/invoices');
	t.is(invoices.total, 1);
	t.like(invoices.data[0], {plan: 'GROWTH', amount: 7900, currency: 'USD'});
	t.deepEqual((await owner.caller.get(`/portal/billing/invoices/${invoices.data[0].id}`)).body, invoices.data[0]);
});

test.serial("an upgrade takes effect with the gateway's event, a downgrade with the next period", async (t) => {
	const owner = await stage.subscribed('SOLO');
	const upgraded = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
	t.deepEqual([upgraded.status, upgraded.body.action, upgraded.body.checkoutUrl], [200, 'UPGRADED', null]);
	t.is(await owner.plan(), 'SOLO');
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');

	const lowered = await owner.caller.post('/portal/billing/change-plan', {plan: 'SOLO'});
	t.like(lowered.body, {action: 'SCHEDULED_DOWNGRADE', subscription: {plan: 'GROWTH', scheduledPlan: 'SOLO'}});
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'GROWTH', scheduledPlan: 'SOLO'});
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is(await owner.plan(), 'SOLO');
});

test.serial('a canceled subscription ends with its period, and can be resumed until then', async (t) => {
	const owner = await stage.subscribed();
	t.is((await owner.caller.post('/portal/billing/resume')).status, 409);
	for (const _ of [1, 2]) {
		t.like((await owner.caller.post('/portal/billing/cancel')).body.subscription, {cancelAtPeriodEnd: true});
	}

	await stage.deliverAll();
	t.like((await owner.caller.post('/portal/billing/resume')).body.subscription, {cancelAtPeriodEnd: false});
	await owner.caller.post('/portal/billing/cancel');
	await stage.deliverAll();
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'CANCELED', cancelAtPeriodEnd: false});
	t.is(await owner.plan(), 'STARTER');
	t.deepEqual((await owner.caller.get('/portal/billing/subscription/active')).body, {subscription: null});
});

test.serial(
	'a scheduled downgrade is canceled by choosing the current plan, which otherwise is a conflict',
	async (t) => {
		const owner = await stage.subscribed();
		const same = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
		t.is(same.status, 409);
		t.is(
			(await owner.caller.post('/portal/billing/change-plan', {plan: 'STARTER'})).body.action,
			'SCHEDULED_DOWNGRADE',
		);
		t.like(await owner.subscription(), {cancelAtPeriodEnd: true, scheduledPlan: 'STARTER'});
		const kept = await owner.caller.post('/portal/billing/change-plan', {plan: 'GROWTH'});
		t.like(kept.body, {action: 'DOWNGRADE_CANCELLED', subscription: {cancelAtPeriodEnd: false, scheduledPlan: null}});
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: false, scheduledPlan: null});
	},
);

test.serial('a renewal that fails keeps the plan for seven days, whatever the row says then', async (t) => {
	const owner = await stage.subscribed();
	const {gateway_customer_id: customer} = await stage.portal.services
		.db('subscriptions')
		.where({organization_id: owner.organization.id})
		.first();
	stage.stripe.setCard(customer, 'declines');
	stage.portal.clock.advance(32 * 86_400);
	stage.stripe.advance();
	await stage.deliverAll();
	t.is((await owner.subscription()).status, 'PAST_DUE');
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, false);
	t.is((await owner.caller.get('/portal/billing/subscription/active')).body.subscription.status, 'PAST_DUE');

	stage.portal.clock.advance(7 * 86_400);
	t.is((await owner.caller.get('/portal/api-keys')).body.locked, true);
	t.deepEqual((await owner.caller.get('/portal/billing/subscription/active')).body, {subscription: null});
});

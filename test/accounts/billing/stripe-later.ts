import test from 'ava';
import {cancelSuspended} from '../../../src/accounts/billing/jobs/billing-jobs.ts';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

test.serial('upgrade payment fails: its page is offered, the plan stays, and paying there changes it', async (t) => {
	const owner = await stage.subscribed('SOLO');
	await stage.setCard(owner, 'declines');
	const {status, body} = await owner.changePlan('GROWTH');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADE_CHECKOUT', gateway: 'GATEWAY_A', subscription: {plan: 'SOLO'}});
	t.regex(body.checkoutUrl, /\/i\/in_/);
	await stage.deliverAll();
	t.is(await owner.plan(), 'SOLO');
	stage.stripe.pay(body.sessionId);
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');
	t.deepEqual(
		(await stage.attemptsOf(owner)).find(({purpose}) => purpose === 'UPGRADE'),
		{status: 'PAID', purpose: 'UPGRADE', plan: 'GROWTH', transaction_id: body.sessionId},
	);
});

test.serial('upgrade payment fails for good: the gateway drops it, and the attempt has expired', async (t) => {
	const owner = await stage.subscribed('SOLO');
	await stage.setCard(owner, 'requires_action');
	t.is((await owner.changePlan('GROWTH')).body.action, 'UPGRADE_CHECKOUT');
	await stage.deliverAfter(1);
	t.like(await owner.subscription(), {plan: 'SOLO', status: 'ACTIVE'});
	t.deepEqual(await stage.attemptStatuses(owner), ['EXPIRED', 'PAID']);
});

test.serial('renewal fails: PAST_DUE, and a later success makes it ACTIVE again', async (t) => {
	const owner = await stage.subscribed();
	await stage.setCard(owner, 'declines');
	await stage.deliverAfter(32);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	await stage.setCard(owner, 'works');
	await stage.deliverAfter(3);
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.is((await stage.everythingOf(owner)).subscription[0]?.['past_due_at'], null);
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
});

test.serial(
	'an upgrade while the renewal is owed is 409 and takes nothing; once that is paid, it is made',
	async (t) => {
		const owner = await stage.subscribed('SOLO');
		const {subscription} = await stage.idsOf(owner);
		const remote = stage.stripe.account.subscriptions.get(subscription);
		await stage.setCard(owner, 'declines');
		await stage.deliverAfter(32);
		await stage.setCard(owner, 'works');
		const {status, body} = await owner.changePlan('GROWTH');
		t.is(status, 409);
		t.like(body, {message: 'The renewal of the subscription has not been paid yet'});
		t.is(stage.chargesOf(owner).length, 1);
		t.like(await owner.subscription(), {status: 'PAST_DUE', plan: 'SOLO'});
		stage.stripe.pay(remote?.latest_invoice ?? '');
		t.is((await owner.changePlan('GROWTH')).body.action, 'UPGRADED');
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'GROWTH'});
	},
);

test.serial('a subscription that owes its first payment gives nothing, though it is past due', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.pay((await owner.openCheckout()).body.sessionId, 'delayed');
	const remote = [...stage.stripe.account.subscriptions.values()].at(-1);
	Object.assign(remote ?? {}, {status: 'past_due'});
	t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
	t.like(await owner.subscription(), {status: 'INACTIVE'});
	t.not(await owner.plan(), 'GROWTH');
	t.deepEqual(await stage.attemptStatuses(owner), ['OPEN']);
});

test.serial('dunning exhausted: CANCELED, STARTER, and nothing is scheduled any more', async (t) => {
	const owner = await stage.subscribed();
	await stage.setCard(owner, 'declines');
	await stage.deliverAfter(60);
	t.like(await owner.subscription(), {status: 'CANCELED', scheduledPlan: null, cancelAtPeriodEnd: false});
	t.is(await owner.plan(), 'STARTER');
});

test.serial(
	'a subscription that ended is replaced by a new checkout, and late events of it take nothing back',
	async (t) => {
		const owner = await stage.subscribed();
		const {subscription} = await stage.idsOf(owner);
		await owner.caller.post('/portal/billing/cancel');
		await stage.deliverAll();
		stage.pass(32);
		const late = stage.stripe.history.filter(({body}) => body.includes(subscription));
		await stage.deliverAll();
		stage.stripe.pay((await owner.openCheckout('SOLO')).body.sessionId);
		await stage.deliverAll();
		const before = await stage.everythingOf(owner);
		for (const {type, object} of late) {
			const event = stage.stripe.event(type, object);
			t.is((await stage.stripe.send(stage.portal, event)).status, 200, type);
			t.like(await stage.entryOf(event), {outcome: 'IGNORED'}, type);
		}

		t.deepEqual(await stage.everythingOf(owner), before);
		t.deepEqual(
			stage.chargesOf(owner).map(({refunded}) => refunded),
			[0, 0],
		);
	},
);

test.serial(
	'organization suspended: its subscription ends with the period, and its owner may resume later',
	async (t) => {
		const owner = await stage.subscribed();
		const {subscription} = await stage.idsOf(owner);
		const path = `/admin/organizations/${owner.organization.id}`;
		await admin(stage.portal).post(`${path}/suspend`);
		stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500});
		const run = {services: stage.portal.services, isStopping: () => false};
		await cancelSuspended(run);
		t.false(stage.stripe.account.subscriptions.get(subscription)?.cancel_at_period_end);
		await cancelSuspended(run);
		t.true(stage.stripe.account.subscriptions.get(subscription)?.cancel_at_period_end);
		await admin(stage.portal).post(`${path}/activate`);
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: true});
		t.is((await owner.caller.post('/portal/billing/resume')).status, 200);
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: false});
	},
);

test.serial('organization deleted at the identity provider: its subscription ends with the period', async (t) => {
	const owner = await stage.subscribed();
	const {provider} = stage.portal;
	provider.deleteOrganization({id: owner.clerkOrgId});
	await provider.deliver(stage.portal, ...provider.eventsAbout(owner.clerkOrgId));
	await cancelSuspended({services: stage.portal.services, isStopping: () => false});
	await stage.deliverAfter(32);
	t.is((await stage.everythingOf(owner)).subscription[0]?.['status'], 'CANCELED');
	t.is(stage.chargesOf(owner).length, 1);
});

for (const how of ['cancel_at', 'cancel_at_period_end'] as const) {
	test.serial(`a cancellation on the gateway's own page, as ${how}, is shown and can be resumed`, async (t) => {
		const owner = await stage.subscribed();
		const {subscription} = await stage.idsOf(owner);
		stage.stripe.account.settings.portalCancelsBy = how;
		stage.stripe.cancelInPortal(subscription);
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: true});
		t.like((await owner.caller.post('/portal/billing/resume')).body.subscription, {cancelAtPeriodEnd: false});
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: false});
		t.is(stage.stripe.account.subscriptions.get(subscription)?.cancel_at, null);
	});
}

test.serial('a scheduled downgrade gives way to a cancellation, and an upgrade to both', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	t.is((await owner.changePlan('SOLO')).body.action, 'SCHEDULED_DOWNGRADE');
	const canceled = (await owner.caller.post('/portal/billing/cancel')).body.subscription;
	t.like(canceled, {cancelAtPeriodEnd: true, scheduledPlan: null});
	await stage.deliverAll();
	t.like(await owner.subscription(), {cancelAtPeriodEnd: true, scheduledPlan: null});
	t.like((await owner.changePlan('SOLO')).body.subscription, {cancelAtPeriodEnd: false, scheduledPlan: 'SOLO'});
	await stage.deliverAll();
	t.like(await owner.subscription(), {cancelAtPeriodEnd: false, scheduledPlan: 'SOLO'});
	t.is((await owner.changePlan('SCALE')).body.action, 'UPGRADED');
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'SCALE', cancelAtPeriodEnd: false, scheduledPlan: null});
	await stage.deliverAfter(32);
	t.like(await owner.subscription(), {plan: 'SCALE', status: 'ACTIVE'});
});

test.serial('the webhooks of a whole month lost: the next one brings everything up to date', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	await owner.changePlan('SOLO');
	stage.pass(32);
	const [last] = stage.takeEvents().slice(-1);
	await stage.stripe.deliver(stage.portal, ...(last ? [last] : []));
	t.like(await owner.subscription(), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
});

test.serial('an activation reported after the first renewal records both invoices', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.pay((await owner.openCheckout()).body.sessionId);
	await stage.deliverAfter(32);
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'GROWTH'});
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
	t.deepEqual(await stage.attemptStatuses(owner), ['PAID']);
});

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

import test from 'ava';
import {cancelSuspended} from '../../src/billing/jobs/cancel-suspended.ts';
import {admin} from '../helpers/callers.ts';
import {startedFor} from '../helpers/started.ts';
import {attemptStatuses, attemptsOf, entryOf, everythingOf} from './_billing-rows.ts';
import {
	changePlan,
	checkout,
	deliverAll,
	idsOf,
	newOwner,
	pass,
	planOf,
	startStripeStage,
	subscribed,
	subscriptionOf,
	takeEvents,
} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const chargesOf = ({organization}: {organization: {id: string}}) =>
	stage.stripe.charges.filter(({organizationId}) => organizationId === organization.id);

test.serial('upgrade payment fails: its page is offered, the plan stays, and paying there changes it', async (t) => {
	const owner = await subscribed(stage, 'SOLO');
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	const {status, body} = await changePlan(owner, 'GROWTH');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADE_CHECKOUT', gateway: 'GATEWAY_A', subscription: {plan: 'SOLO'}});
	t.regex(body.checkoutUrl, /\/i\/in_/);
	await deliverAll(stage);
	t.is(await planOf(owner), 'SOLO');
	stage.stripe.pay(body.sessionId);
	await deliverAll(stage);
	t.is(await planOf(owner), 'GROWTH');
	t.deepEqual(
		(await attemptsOf(stage, owner)).find(({purpose}) => purpose === 'UPGRADE'),
		{status: 'PAID', purpose: 'UPGRADE', plan: 'GROWTH', transaction_id: body.sessionId},
	);
});

test.serial('upgrade payment fails for good: the gateway drops it, and the attempt has expired', async (t) => {
	const owner = await subscribed(stage, 'SOLO');
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'requires_action');
	t.is((await changePlan(owner, 'GROWTH')).body.action, 'UPGRADE_CHECKOUT');
	pass(stage, 1);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'SOLO', status: 'ACTIVE'});
	t.deepEqual(await attemptStatuses(stage, owner), ['EXPIRED', 'PAID']);
});

test.serial('renewal fails: PAST_DUE, and a later success makes it ACTIVE again', async (t) => {
	const owner = await subscribed(stage);
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	pass(stage, 32);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).status, 'PAST_DUE');
	stage.stripe.setCard(customer, 'works');
	pass(stage, 3);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
	t.is((await everythingOf(stage, owner)).subscription[0]?.['past_due_at'], null);
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
});

test.serial(
	'an upgrade while the renewal is owed is 409 and takes nothing; once that is paid, it is made',
	async (t) => {
		const owner = await subscribed(stage, 'SOLO');
		const {subscription, customer} = await idsOf(stage, owner);
		const remote = stage.stripe.account.subscriptions.get(subscription);
		stage.stripe.setCard(customer, 'declines');
		pass(stage, 32);
		await deliverAll(stage);
		stage.stripe.setCard(customer, 'works');
		const {status, body} = await changePlan(owner, 'GROWTH');
		t.is(status, 409);
		t.like(body, {message: 'The renewal of the subscription has not been paid yet'});
		t.is(chargesOf(owner).length, 1);
		t.like(await subscriptionOf(owner), {status: 'PAST_DUE', plan: 'SOLO'});
		stage.stripe.pay(remote?.latest_invoice ?? '');
		t.is((await changePlan(owner, 'GROWTH')).body.action, 'UPGRADED');
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'GROWTH'});
	},
);

test.serial('a subscription that owes its first payment gives nothing, though it is past due', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId, 'delayed');
	const remote = [...stage.stripe.account.subscriptions.values()].at(-1);
	Object.assign(remote ?? {}, {status: 'past_due'});
	t.deepEqual(new Set(await deliverAll(stage)), new Set([200]));
	t.like(await subscriptionOf(owner), {status: 'INACTIVE'});
	t.not(await planOf(owner), 'GROWTH');
	t.deepEqual(await attemptStatuses(stage, owner), ['OPEN']);
});

test.serial('dunning exhausted: CANCELED, STARTER, and nothing is scheduled any more', async (t) => {
	const owner = await subscribed(stage);
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	pass(stage, 60);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'CANCELED', scheduledPlan: null, cancelAtPeriodEnd: false});
	t.is(await planOf(owner), 'STARTER');
});

test.serial(
	'a subscription that ended is replaced by a new checkout, and late events of it take nothing back',
	async (t) => {
		const owner = await subscribed(stage);
		const {subscription} = await idsOf(stage, owner);
		await owner.caller.post('/portal/billing/cancel');
		await deliverAll(stage);
		pass(stage, 32);
		const late = stage.stripe.history.filter(({body}) => body.includes(subscription));
		await deliverAll(stage);
		stage.stripe.pay((await checkout(owner, 'SOLO')).body.sessionId);
		await deliverAll(stage);
		const before = await everythingOf(stage, owner);
		for (const {type, object} of late) {
			const event = stage.stripe.event(type, object);
			t.is((await stage.stripe.send(stage.portal, event)).status, 200, type);
			t.like(await entryOf(stage, event), {outcome: 'IGNORED'}, type);
		}

		t.deepEqual(await everythingOf(stage, owner), before);
		t.deepEqual(
			chargesOf(owner).map(({refunded}) => refunded),
			[0, 0],
		);
	},
);

test.serial(
	'organization suspended: what it pays for ends with its period, and its owner may resume later',
	async (t) => {
		const owner = await subscribed(stage);
		const {subscription} = await idsOf(stage, owner);
		const path = `/admin/organizations/${owner.organization.id}`;
		await admin(stage.portal).post(`${path}/suspend`);
		stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500});
		const run = {services: stage.portal.services, isStopping: () => false};
		await cancelSuspended(run);
		t.false(stage.stripe.account.subscriptions.get(subscription)?.cancel_at_period_end);
		await cancelSuspended(run);
		t.true(stage.stripe.account.subscriptions.get(subscription)?.cancel_at_period_end);
		await admin(stage.portal).post(`${path}/activate`);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', cancelAtPeriodEnd: true});
		t.is((await owner.caller.post('/portal/billing/resume')).status, 200);
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', cancelAtPeriodEnd: false});
	},
);

test.serial('organization deleted at the identity provider: what it pays for ends with its period', async (t) => {
	const owner = await subscribed(stage);
	const {provider} = stage.portal;
	provider.deleteOrganization({id: owner.clerkOrgId});
	await provider.deliver(stage.portal, ...provider.eventsAbout(owner.clerkOrgId));
	await cancelSuspended({services: stage.portal.services, isStopping: () => false});
	pass(stage, 32);
	await deliverAll(stage);
	t.is((await everythingOf(stage, owner)).subscription[0]?.['status'], 'CANCELED');
	t.is(chargesOf(owner).length, 1);
});

for (const how of ['cancel_at', 'cancel_at_period_end'] as const) {
	test.serial(`a cancellation on the gateway's own page, as ${how}, is shown and can be resumed`, async (t) => {
		const owner = await subscribed(stage);
		const {subscription} = await idsOf(stage, owner);
		stage.stripe.account.settings.portalCancelsBy = how;
		stage.stripe.cancelInPortal(subscription);
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', cancelAtPeriodEnd: true});
		t.like((await owner.caller.post('/portal/billing/resume')).body.subscription, {cancelAtPeriodEnd: false});
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {status: 'ACTIVE', cancelAtPeriodEnd: false});
		t.is(stage.stripe.account.subscriptions.get(subscription)?.cancel_at, null);
	});
}

test.serial('a scheduled downgrade gives way to a cancellation, and an upgrade to both', async (t) => {
	const owner = await subscribed(stage, 'GROWTH');
	t.is((await changePlan(owner, 'SOLO')).body.action, 'SCHEDULED_DOWNGRADE');
	const canceled = (await owner.caller.post('/portal/billing/cancel')).body.subscription;
	t.like(canceled, {cancelAtPeriodEnd: true, scheduledPlan: null});
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {cancelAtPeriodEnd: true, scheduledPlan: null});
	t.like((await changePlan(owner, 'SOLO')).body.subscription, {cancelAtPeriodEnd: false, scheduledPlan: 'SOLO'});
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {cancelAtPeriodEnd: false, scheduledPlan: 'SOLO'});
	t.is((await changePlan(owner, 'SCALE')).body.action, 'UPGRADED');
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'SCALE', cancelAtPeriodEnd: false, scheduledPlan: null});
	pass(stage, 32);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'SCALE', status: 'ACTIVE'});
});

test.serial('the webhooks of a whole month lost: the next one brings everything up to date', async (t) => {
	const owner = await subscribed(stage, 'GROWTH');
	await changePlan(owner, 'SOLO');
	pass(stage, 32);
	const [last] = takeEvents(stage).slice(-1);
	await stage.stripe.deliver(stage.portal, ...(last ? [last] : []));
	t.like(await subscriptionOf(owner), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
});

test.serial('an activation that is told of after the first renewal records both invoices', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
	pass(stage, 32);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'GROWTH'});
	t.is((await owner.caller.get('/portal/billing/invoices')).body.total, 2);
	t.deepEqual(await attemptStatuses(stage, owner), ['PAID']);
});

import test from 'ava';
import {cancelSuspended} from '../../../src/accounts/billing/jobs/billing-jobs.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const runCancelSuspended = () => cancelSuspended({services: stage.portal.services, isStopping: () => false});

test.serial('upgrade payment fails: its page is offered, the plan stays, and paying there changes it', async (t) => {
	const owner = await stage.subscribed('SOLO');
	await stage.setCard(owner, 'declines');
	const {status, body} = await owner.changePlan('GROWTH');
	t.is(status, 200);
	t.like(body, {action: 'UPGRADE_CHECKOUT', gateway: 'GATEWAY_A', subscription: {plan: 'SOLO'}});
	t.regex(body.checkoutUrl, /\/i\/in_/);
	await stage.deliverAll();
	t.is(await owner.plan(), 'SOLO');
	await stage.pay(body.sessionId);
	t.is(await owner.plan(), 'GROWTH');
	const upgrade = (await stage.attemptsOf(owner)).find(({purpose}) => purpose === 'UPGRADE');
	t.like(upgrade, {status: 'PAID', plan: 'GROWTH', transaction_id: body.sessionId});
});

test.serial('upgrade payment fails for good: the gateway drops it, and the attempt has expired', async (t) => {
	const owner = await stage.subscribed('SOLO');
	await stage.setCard(owner, 'requires_action');
	t.is((await owner.changePlan('GROWTH')).body.action, 'UPGRADE_CHECKOUT');
	await stage.deliverAfter(1);
	t.like(await owner.state(), {plan: 'SOLO', status: 'ACTIVE', attempts: 'EXPIRED PAID'});
});

test.serial('an upgrade while the renewal is owed is 409; once that is paid, it is made', async (t) => {
	const owner = await stage.pastDue(32, 'SOLO');
	const remote = stage.stripe.account.subscriptions.get((await stage.idsOf(owner)).subscription);
	await stage.setCard(owner, 'works');
	const message = 'The renewal of the subscription has not been paid yet';
	t.like(await owner.changePlan('GROWTH'), {status: 409, body: {message}});
	t.is(stage.chargesOf(owner).length, 1);
	t.like(await owner.subscription(), {status: 'PAST_DUE', plan: 'SOLO'});
	stage.stripe.pay(remote?.latest_invoice ?? '');
	t.is((await owner.changePlan('GROWTH')).body.action, 'UPGRADED');
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'GROWTH'});
});

test.serial('a subscription that owes its first payment gives nothing, though it is past due', async (t) => {
	const owner = await stage.atCheckout();
	stage.stripe.pay(owner.checkout.sessionId, 'delayed');
	const remote = [...stage.stripe.account.subscriptions.values()].at(-1);
	Object.assign(remote ?? {}, {status: 'past_due'});
	t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
	t.like(await owner.state(), {status: 'INACTIVE', uses: null, attempts: 'OPEN'});
});

test.serial('dunning exhausted: CANCELED, STARTER, and nothing is scheduled any more', async (t) => {
	const owner = await stage.pastDue(60);
	const expected = {status: 'CANCELED', scheduledPlan: null, cancelAtPeriodEnd: false, uses: 'STARTER'};
	t.like(await owner.state(), expected);
});

test.serial('a new checkout replaces a subscription that ended; late events of that take nothing back', async (t) => {
	const owner = await stage.subscribed();
	const {subscription} = await stage.idsOf(owner);
	await owner.cancel();
	await stage.deliverAll();
	stage.pass(32);
	const late = stage.stripe.history.filter(({body}) => body.includes(subscription));
	await stage.deliverAll();
	await stage.pay((await owner.openCheckout('SOLO')).body.sessionId);
	const before = await stage.everythingOf(owner);
	for (const {type, object} of late) {
		const event = stage.stripe.event(type, object);
		t.is((await stage.stripe.send(stage.portal, event)).status, 200, type);
		t.like(await stage.entryOf(event), {outcome: 'IGNORED'}, type);
	}

	t.deepEqual(await stage.everythingOf(owner), before);
	const refunds = stage.chargesOf(owner).map(({refunded}) => refunded);
	t.deepEqual(refunds, [0, 0]);
});

test.serial('organization suspended: its subscription ends with the period; its owner may resume later', async (t) => {
	const owner = await stage.subscribed();
	const {subscription} = await stage.idsOf(owner);
	const isEnding = () => stage.stripe.account.subscriptions.get(subscription)?.cancel_at_period_end;
	await owner.organization.operator.post('/suspend');
	stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500});
	await runCancelSuspended();
	t.false(isEnding());
	await runCancelSuspended();
	t.true(isEnding());
	await owner.organization.operator.post('/activate');
	t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: true});
	t.is((await owner.resume()).status, 200);
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: false});
});

test.serial('organization deleted at the identity provider: its subscription ends with the period', async (t) => {
	const owner = await stage.subscribed();
	const {provider} = stage.portal;
	provider.deleteOrganization({id: owner.clerkOrgId});
	await provider.deliver(stage.portal, ...provider.eventsAbout(owner.clerkOrgId));
	await runCancelSuspended();
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
		t.like((await owner.resume()).body.subscription, {cancelAtPeriodEnd: false});
		await stage.deliverAll();
		t.like(await owner.subscription(), {status: 'ACTIVE', cancelAtPeriodEnd: false});
		t.is(stage.stripe.account.subscriptions.get(subscription)?.cancel_at, null);
	});
}

test.serial('a scheduled downgrade gives way to a cancellation, and an upgrade to both', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	t.is((await owner.changePlan('SOLO')).body.action, 'SCHEDULED_DOWNGRADE');
	const canceled = {cancelAtPeriodEnd: true, scheduledPlan: null};
	t.like((await owner.cancel()).body.subscription, canceled);
	await stage.deliverAll();
	t.like(await owner.subscription(), canceled);
	const lowered = {cancelAtPeriodEnd: false, scheduledPlan: 'SOLO'};
	t.like((await owner.changePlan('SOLO')).body.subscription, lowered);
	await stage.deliverAll();
	t.like(await owner.subscription(), lowered);
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
	await stage.stripe.deliver(stage.portal, ...stage.takeEvents().slice(-1));
	t.like(await owner.state(), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE', invoices: 2});
});

test.serial('an activation reported after the first renewal records both invoices', async (t) => {
	const owner = await stage.payer();
	await stage.deliverAfter(32);
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', invoices: 2, attempts: 'PAID'});
});

test.serial("a checkout opens a hosted page, and only the gateway's event activates the subscription", async (t) => {
	const owner = await stage.newOwner();
	t.is(await owner.subscription(), null);
	const {checkoutUrl, sessionId, subscription} = (await owner.openCheckout('growth')).body;
	t.like(subscription, {status: 'INACTIVE', plan: 'GROWTH'});
	t.true(checkoutUrl.startsWith(stage.stripe.url));
	t.is(await owner.plan(), null);
	stage.stripe.pay(sessionId);
	t.is((await owner.subscription()).status, 'INACTIVE');
	t.deepEqual(new Set(await stage.deliverAll()), new Set([200]));
	const expected = {status: 'ACTIVE', plan: 'GROWTH', uses: 'GROWTH', gateway: 'GATEWAY_A', cancelAtPeriodEnd: false};
	t.like(await owner.state(), expected);
	const invoices = await owner.invoices();
	t.is(invoices.length, 1);
	t.like(invoices[0], {plan: 'GROWTH', amount: 7900, currency: 'USD'});
});

test.serial("an upgrade takes effect with the gateway's event, a downgrade with the next period", async (t) => {
	const owner = await stage.subscribed('SOLO');
	t.like(await owner.changePlan('GROWTH'), {status: 200, body: {action: 'UPGRADED', checkoutUrl: null}});
	t.is(await owner.plan(), 'SOLO');
	await stage.deliverAll();
	t.is(await owner.plan(), 'GROWTH');

	const scheduled = {plan: 'GROWTH', scheduledPlan: 'SOLO'};
	t.like((await owner.changePlan('SOLO')).body, {action: 'SCHEDULED_DOWNGRADE', subscription: scheduled});
	await stage.deliverAll();
	t.like(await owner.subscription(), scheduled);
	await stage.deliverAfter(32);
	t.like(await owner.state(), {plan: 'SOLO', uses: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
});

test.serial('a canceled subscription ends with its period, and can be resumed until then', async (t) => {
	const owner = await stage.subscribed();
	for (const _ of [1, 2]) {
		t.like((await owner.cancel()).body.subscription, {cancelAtPeriodEnd: true});
	}

	await stage.deliverAll();
	t.like((await owner.resume()).body.subscription, {cancelAtPeriodEnd: false});
	await owner.cancel();
	await stage.deliverAll();
	await stage.deliverAfter(32);
	t.like(await owner.state(), {status: 'CANCELED', cancelAtPeriodEnd: false, uses: 'STARTER'});
	t.is(await owner.activeSubscription(), null);
});

test.serial('a scheduled end of the plan is canceled by choosing the current plan', async (t) => {
	const owner = await stage.subscribed();
	t.is((await owner.changePlan('STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	t.like(await owner.subscription(), {cancelAtPeriodEnd: true, scheduledPlan: 'STARTER'});
	const kept = {cancelAtPeriodEnd: false, scheduledPlan: null};
	t.like((await owner.changePlan('GROWTH')).body, {action: 'DOWNGRADE_CANCELLED', subscription: kept});
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'ACTIVE', ...kept});
});

import test from 'ava';
import type Stripe from 'stripe';
import {GROWTH, onlyItem, SCALE, SOLO, startStripe, unixOf} from './_official-stripe.ts';

test('A paid checkout makes a subscription, its paid invoice, and their events', async (t) => {
	const {fake, stripe, clock, openCheckout, waiting} = await startStripe(t);
	const open = await openCheckout();
	t.like(open, {status: 'open', payment_status: 'unpaid', client_reference_id: 'a-1', amount_total: 7900});
	t.regex(open.url ?? '', /\/c\/pay\/cs_test_/);

	fake.pay(open.id);

	const paid = await stripe.checkout.sessions.retrieve(open.id, {expand: ['subscription.latest_invoice', 'invoice']});
	t.like(paid, {status: 'complete', payment_status: 'paid', url: null, invoice: {status: 'paid'}});
	const subscription = paid.subscription as Stripe.Subscription;
	t.like(subscription, {status: 'active', metadata: {orgId: 'o-1', attemptId: 'a-1'}, cancel_at: null});
	t.like(onlyItem(subscription), {
		current_period_start: clock.now().getTime() / 1000,
		current_period_end: unixOf('2026-04-10T12:00:00Z'),
		price: {id: GROWTH, unit_amount: 7900, currency: 'usd'},
	});
	t.like(subscription.latest_invoice, {
		billing_reason: 'subscription_create',
		amount_paid: 7900,
		amount_remaining: 0,
		parent: {type: 'subscription_details', subscription_details: {subscription: subscription.id}},
	});
	t.deepEqual(waiting(), ['customer.subscription.created', 'invoice.paid', 'checkout.session.completed']);
	t.is(fake.charges.length, 1);
	t.like(fake.charges[0], {amount: 7900, currency: 'usd', organizationId: 'o-1', attemptId: 'a-1', refunded: 0});
});

test('An upgrade charges the difference of the remaining time and keeps the period', async (t) => {
	const {fake, clock, subscribe, upgrade, waiting} = await startStripe(t);
	const before = await subscribe(SOLO);
	// Half of the 31 days from 10 March to 10 April.
	clock.advance((31 * 86_400) / 2);

	const after = await upgrade(before, SCALE, 'up:a-2');

	t.is(after.pending_update, null);
	t.like(onlyItem(after), {price: {id: SCALE}, current_period_end: onlyItem(before).current_period_end});
	t.like(after.latest_invoice, {billing_reason: 'subscription_update', status: 'paid', total: 14_950 - 950});
	t.like(fake.charges[1], {amount: 14_000, idempotencyKey: 'up:a-2'});
	t.deepEqual(waiting(), ['invoice.paid', 'customer.subscription.updated']);
});

test('A scheduled downgrade takes the cheaper price at the period end and lets go of its schedule later', async (t) => {
	const {stripe, setTime, amounts, subscribe} = await startStripe(t);
	const {id} = await subscribe(SCALE);
	const created = await stripe.subscriptionSchedules.create({from_subscription: id});
	const {start_date = 0, end_date = 0} = created.phases[0] ?? {};
	await stripe.subscriptionSchedules.update(created.id, {
		end_behavior: 'release',
		proration_behavior: 'none',
		phases: [
			{start_date, end_date, items: [{price: SCALE, quantity: 1}]},
			{
				items: [{price: SOLO, quantity: 1}],
				proration_behavior: 'none',
				duration: {interval: 'month', interval_count: 1},
			},
		],
	});
	t.is((await stripe.subscriptions.retrieve(id)).schedule, created.id);
	const canceling = stripe.subscriptions.update(id, {cancel_at_period_end: true});
	await t.throwsAsync(canceling, {message: /managed by the subscription schedule/});

	setTime('2026-04-10T12:00:00Z');
	t.is(onlyItem(await stripe.subscriptions.retrieve(id)).price.id, SOLO);
	setTime('2026-05-10T12:00:00Z');
	t.is((await stripe.subscriptions.retrieve(id)).schedule, null);
	t.deepEqual(amounts(), [29_900, 1900, 1900]);
	await t.throwsAsync(() => stripe.subscriptionSchedules.release(created.id), {message: /`released` status/});
});

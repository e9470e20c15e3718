import test from 'ava';
import Stripe from 'stripe';
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

test('The library accepts the signature of every event, and refuses a forged one', async (t) => {
	const {fake, stripe, clock, openCheckout} = await startStripe(t);
	fake.pay((await openCheckout()).id);
	const secret = fake.env.STRIPE_WEBHOOK_SECRET;
	const at = Math.floor(clock.now().getTime() / 1000);

	for (const event of fake.events) {
		const header = fake.sign(event).headers?.['stripe-signature'] ?? '';
		const read = await stripe.webhooks.constructEventAsync(event.body, header, secret, 300, undefined, at * 1000);
		t.is(String(read.type), event.type);
		t.is(read.api_version, '2026-10-28.endive');
		t.deepEqual(header, stripe.webhooks.generateTestHeaderString({payload: event.body, secret, timestamp: at}));
		const forged = fake.sign(event, {secret: 'whsec_other'}).headers?.['stripe-signature'] ?? '';
		t.throws(() => stripe.webhooks.constructEvent(event.body, forged, secret, 0), {
			instanceOf: Stripe.errors.StripeSignatureVerificationError,
		});
	}
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

test('An upgrade that the card declines waits for its invoice, and is applied when that is paid', async (t) => {
	const {fake, stripe, subscribe, upgrade, waiting} = await startStripe(t);
	const before = await subscribe(SOLO);
	fake.setCard(String(before.customer), 'declines');

	const held = await upgrade(before, GROWTH);

	t.is(onlyItem(held).price.id, SOLO);
	t.is(held.pending_update?.subscription_items?.[0]?.price.id, GROWTH);
	const invoice = held.latest_invoice as Stripe.Invoice;
	t.like(invoice, {status: 'open', attempt_count: 1});
	t.regex(invoice.hosted_invoice_url ?? '', /\/i\/in_/);
	t.deepEqual(waiting(), ['invoice.payment_failed', 'customer.subscription.updated']);

	fake.pay(invoice.id ?? '');

	const applied = await stripe.subscriptions.retrieve(before.id);
	t.is(onlyItem(applied).price.id, GROWTH);
	t.is(applied.pending_update, null);
	t.is(fake.charges.length, 2);
});

test('An unpaid upgrade is dropped after 23 hours', async (t) => {
	const {fake, stripe, clock, subscribe, upgrade, waiting} = await startStripe(t);
	const before = await subscribe(SOLO);
	fake.setCard(String(before.customer), 'requires_action');
	const held = await upgrade(before, GROWTH);

	clock.advance(23 * 3600);

	const after = await stripe.subscriptions.retrieve(before.id);
	t.like(after, {pending_update: null, status: 'active'});
	t.is(onlyItem(after).price.id, SOLO);
	const {id} = held.latest_invoice as Stripe.Invoice;
	t.is((await stripe.invoices.retrieve(id ?? '')).status, 'void');
	t.true(waiting().includes('invoice.payment_action_required'));
	t.is(fake.charges.length, 1);
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

test('A subscription canceled at the end of its period ends then, unless it is resumed', async (t) => {
	const {fake, stripe, clock, subscribe, waiting} = await startStripe(t);
	const {id} = await subscribe();
	const end = unixOf('2026-04-10T12:00:00Z');
	const cancel = (isEnding: boolean) => stripe.subscriptions.update(id, {cancel_at_period_end: isEnding});

	t.like(await cancel(true), {cancel_at_period_end: true, cancel_at: end});
	t.like(await cancel(false), {cancel_at_period_end: false, cancel_at: null});
	fake.cancelInPortal(id);
	t.like(await cancel(false), {cancel_at: end});
	await stripe.subscriptions.update(id, {cancel_at: ''});
	await cancel(true);
	fake.events.length = 0;

	clock.set(new Date(end * 1000));
	fake.advance();

	t.deepEqual(waiting(), ['customer.subscription.deleted']);
	t.like(await stripe.subscriptions.retrieve(id), {status: 'canceled', ended_at: end});
	await t.throwsAsync(() => cancel(false), {instanceOf: Stripe.errors.StripeInvalidRequestError});
	await t.throwsAsync(() => stripe.subscriptions.cancel(id), {message: /No such subscription/});
});

import test from 'ava';
import {GROWTH, onlyItem, openCheckout, startStripe, subscribe, unixOf, waiting} from './_official-stripe.ts';

test('Renewals happen as the clock passes each period end, anchored to the day of the first', async (t) => {
	const given = await startStripe(t);
	const {fake, stripe, clock} = given;
	clock.set(new Date('2026-01-31T09:30:00Z'));
	const {id} = await subscribe(given);

	clock.set(new Date('2026-04-01T00:00:00Z'));
	fake.advance();

	const item = onlyItem(await stripe.subscriptions.retrieve(id));
	t.is(item.current_period_start, unixOf('2026-03-31T09:30:00Z'));
	t.is(item.current_period_end, unixOf('2026-04-30T09:30:00Z'));
	t.deepEqual(
		fake.charges.map(({at}) => at.toISOString()),
		['2026-01-31T09:30:00.000Z', '2026-02-28T09:30:00.000Z', '2026-03-31T09:30:00.000Z'],
	);
	t.deepEqual(waiting(fake), [
		'customer.subscription.updated',
		'invoice.paid',
		'customer.subscription.updated',
		'invoice.paid',
	]);
});

test('A declined renewal is past due, is tried again, and goes on when the card works', async (t) => {
	const given = await startStripe(t);
	const {fake, stripe, clock} = given;
	const {id, customer} = await subscribe(given);
	fake.setCard(String(customer), 'declines');

	clock.set(new Date('2026-04-10T12:00:00Z'));
	const declined = await stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']});
	t.like(declined, {
		status: 'past_due',
		latest_invoice: {
			billing_reason: 'subscription_cycle',
			status: 'open',
			next_payment_attempt: unixOf('2026-04-13T12:00:00Z'),
		},
	});
	t.is(onlyItem(declined).current_period_end, unixOf('2026-05-10T12:00:00Z'));
	t.deepEqual(waiting(fake), [
		'customer.subscription.updated',
		'invoice.payment_failed',
		'customer.subscription.updated',
	]);

	fake.setCard(String(customer), 'works');
	clock.set(new Date('2026-04-13T12:00:00Z'));
	t.is((await stripe.subscriptions.retrieve(id)).status, 'active');
	t.is(fake.charges.length, 2);
});

test('A renewal that is declined to the end cancels the subscription and its tries', async (t) => {
	const given = await startStripe(t);
	const {fake, stripe, clock} = given;
	const {id, customer} = await subscribe(given);
	fake.setCard(String(customer), 'declines');

	clock.set(new Date('2026-06-30T12:00:00Z'));

	t.like(await stripe.subscriptions.retrieve(id), {
		status: 'canceled',
		ended_at: unixOf('2026-04-25T12:00:00Z'),
		cancellation_details: {reason: 'payment_failed'},
	});
	t.is(fake.events.filter(({type}) => type === 'invoice.payment_failed').length, 4);
	t.is(waiting(fake).at(-1), 'customer.subscription.deleted');
	t.is(fake.charges.length, 1);
});

test('A renewal stays a draft for as long as the settings say', async (t) => {
	const given = await startStripe(t, {settings: {draftSeconds: 3600}});
	const {fake, stripe, clock} = given;
	const {id} = await subscribe(given);

	clock.set(new Date('2026-04-10T12:30:00Z'));
	t.like(await stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']}), {
		status: 'active',
		latest_invoice: {status: 'draft'},
	});
	clock.set(new Date('2026-04-10T13:00:00Z'));
	fake.advance();

	t.is(fake.charges.length, 2);
});

test('An unfinished checkout expires, and cannot be paid or expired again', async (t) => {
	const given = await startStripe(t);
	const {fake, stripe, clock} = given;
	const {id} = await openCheckout(given);

	clock.advance(86_400);
	fake.advance();

	t.deepEqual(waiting(fake), ['checkout.session.expired']);
	t.throws(() => fake.pay(id), {message: /is expired/});
	await t.throwsAsync(() => stripe.checkout.sessions.expire(id), {message: /`expired`/});
});

test('A payment that takes days leaves the subscription incomplete until it arrives', async (t) => {
	const given = await startStripe(t);
	const {fake, stripe} = given;
	const {id} = await openCheckout(given, GROWTH);

	fake.pay(id, 'delayed');
	t.like(await stripe.checkout.sessions.retrieve(id, {expand: ['subscription']}), {
		status: 'complete',
		payment_status: 'unpaid',
		subscription: {status: 'incomplete'},
	});
	fake.settle(id, true);

	t.like(await stripe.checkout.sessions.retrieve(id, {expand: ['subscription']}), {
		payment_status: 'paid',
		subscription: {status: 'active'},
	});
	t.is(waiting(fake).at(-1), 'checkout.session.async_payment_succeeded');
});

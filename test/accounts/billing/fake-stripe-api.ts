import test from 'ava';
import Stripe from 'stripe';
import {onlyItem, startStripe, unixOf} from './_official-stripe.ts';

const {errors} = Stripe;

test('The same key and parameters get the same answer for a day, other parameters a refusal', async (t) => {
	const {fake, stripe, clock} = await startStripe(t);
	const create = (email: string) => stripe.customers.create({email}, {idempotencyKey: 'cus:o-1'});

	const first = await create('a@acme.test');
	const second = await create('a@acme.test');

	t.is(second.id, first.id);
	t.not(second.lastResponse.requestId, first.lastResponse.requestId);
	t.is(second.lastResponse.headers['idempotent-replayed'], 'true');
	await t.throwsAsync(() => create('b@acme.test'), {instanceOf: errors.StripeIdempotencyError});
	t.is(fake.account.customers.size, 1);
	clock.advance(86_400);
	t.not((await create('b@acme.test')).id, first.id);
});

test('A refusal is not kept for its key, so that the corrected request goes through', async (t) => {
	const {fake, stripe} = await startStripe(t);
	const {id: customer} = await stripe.customers.create({});
	const success_url = 'https://portal.example.com/';
	const line_items = [{price: 'price_nobody', quantity: 1}];
	const create = () =>
		stripe.checkout.sessions.create(
			{mode: 'subscription', customer, line_items, success_url},
			{idempotencyKey: 'cs:a-1'},
		);

	const error = await t.throwsAsync(create, {instanceOf: errors.StripeInvalidRequestError});
	t.like(error, {statusCode: 400, code: 'resource_missing', param: 'line_items[0][price]'});
	fake.setPrice('price_nobody', {amount: 500});

	t.is((await create()).amount_total, 500);
});

test('What the real one refuses is refused in its words', async (t) => {
	const {fake, stripe} = await startStripe(t);
	const {hostname: host, port} = new URL(fake.url);
	const at = {host, port, protocol: 'http' as const, maxNetworkRetries: 0};
	const missing = {statusCode: 404, message: "No such customer: 'cus_none'"};
	t.like(await t.throwsAsync(() => stripe.customers.retrieve('cus_none')), missing);
	const stranger = new Stripe('sk_test_wrong', at);
	await t.throwsAsync(() => stranger.customers.list(), {instanceOf: errors.StripeAuthenticationError});
	const misspelled = {emial: 'a@acme.test'} as Stripe.CustomerCreateParams;
	t.like(await t.throwsAsync(() => stripe.customers.create(misspelled)), {code: 'parameter_unknown', param: 'emial'});
	const noCustomer = {statusCode: 400, code: 'resource_missing', param: 'customer'};
	t.like(await t.throwsAsync(() => stripe.billingPortal.sessions.create({customer: 'cus_none'})), noCustomer);
	const authorization = `Bearer ${fake.env.STRIPE_SECRET_KEY}`;
	const plain = (path: string, init: RequestInit = {}) =>
		fetch(new URL(path, fake.url), {...init, headers: {authorization, ...init.headers}});
	const json = {'content-type': 'application/json'};
	t.is((await plain('/v1/customers', {method: 'POST', headers: json, body: '{}'})).status, 400);
	t.is((await plain('/v1/customers', {headers: {'stripe-version': '2020-08-27'}})).status, 400);
	t.is((await plain('/v1/nothing')).status, 404);
});

test('Paid invoices are listed page by page, and a payment is refunded once', async (t) => {
	const {fake, stripe, setTime, amounts, subscribe} = await startStripe(t);
	const {customer} = await subscribe();
	setTime('2026-06-01T00:00:00Z');
	const query = {customer: String(customer), status: 'paid' as const, limit: 2};

	const first = await stripe.invoices.list(query);
	const rest = await stripe.invoices.list({...query, starting_after: first.data.at(-1)?.id ?? ''});

	t.deepEqual([first.data.length, first.has_more], [2, true]);
	t.deepEqual([rest.data.length, rest.has_more], [1, false]);
	t.is(rest.data[0]?.billing_reason, 'subscription_create');
	const invoice = await stripe.invoices.retrieve(rest.data[0]?.id ?? '', {expand: ['payments']});
	const intent = invoice.payments?.data[0]?.payment.payment_intent;
	t.is(intent, fake.charges[0]?.paymentIntent);
	const refund = () => stripe.refunds.create({payment_intent: String(intent)});
	t.like(await refund(), {amount: 7900, status: 'succeeded'});
	t.like(await t.throwsAsync(refund), {code: 'charge_already_refunded'});
	t.deepEqual(amounts(), [0, 7900, 7900]);
});

test('The portal needs a configuration, and lets its customer cancel and take that back', async (t) => {
	const {fake, stripe, subscribe} = await startStripe(t);
	const {id, customer} = await subscribe();
	const open = () => stripe.billingPortal.sessions.create({customer: String(customer), return_url: 'https://p.test/'});

	fake.account.settings.hasPortalConfiguration = false;
	await t.throwsAsync(open, {message: /No configuration provided/});
	fake.account.settings.hasPortalConfiguration = true;
	const {url} = await open();
	const post = (fields: Record<string, string>) => fetch(url, {method: 'POST', body: new URLSearchParams(fields)});

	t.regex(await (await fetch(url)).text(), /price_oplink_growth, active, renews/);
	t.regex(await (await post({action: 'cancel', subscription: id})).text(), /active, ends/);
	t.like(await stripe.subscriptions.retrieve(id), {cancel_at_period_end: false, cancel_at: 1_775_822_400});
	t.regex(await (await post({action: 'resume', subscription: id})).text(), /active, renews/);
});

test('A person pays on the hosted page, a script by the same form or by JSON', async (t) => {
	const {fake, stripe, openCheckout} = await startStripe(t);
	const [first, second] = [await openCheckout(), await openCheckout()];
	const post = (url: string | null, init: RequestInit) =>
		fetch(url ?? '', {method: 'POST', redirect: 'manual', ...init});
	const press = (action: string) => post(first.url, {body: new URLSearchParams({action})});

	t.regex(await (await fetch(first.url ?? '')).text(), /79\.00 USD a month/);
	t.regex(await (await press('decline')).text(), /Your card was declined/);
	const paid = await press('pay');
	t.is(paid.status, 303);
	t.is(paid.headers.get('location'), `https://portal.example.com/done?session_id=${first.id}`);
	const headers = {'content-type': 'application/json'};
	const scripted = await post(second.url, {headers, body: '{"action":"pay"}'});
	t.like(await scripted.json(), {status: 'complete'});

	t.is((await stripe.checkout.sessions.retrieve(second.id)).payment_status, 'paid');
	t.is(fake.charges.length, 2);
});

test('Renewals happen as the clock passes each period end, anchored to the day of the first', async (t) => {
	const {fake, stripe, setTime, subscribe, waiting} = await startStripe(t);
	setTime('2026-01-31T09:30:00Z');
	const {id} = await subscribe();

	setTime('2026-04-01T00:00:00Z');
	fake.advance();

	const item = onlyItem(await stripe.subscriptions.retrieve(id));
	t.is(item.current_period_start, unixOf('2026-03-31T09:30:00Z'));
	t.is(item.current_period_end, unixOf('2026-04-30T09:30:00Z'));
	const charged = fake.charges.map(({at}) => at.toISOString());
	t.deepEqual(charged, ['2026-01-31T09:30:00.000Z', '2026-02-28T09:30:00.000Z', '2026-03-31T09:30:00.000Z']);
	const renewal = ['customer.subscription.updated', 'invoice.paid'];
	t.deepEqual(waiting(), [...renewal, ...renewal]);
});

test('A renewal stays a draft for as long as the settings say', async (t) => {
	const {fake, stripe, setTime, subscribe} = await startStripe(t, {settings: {draftSeconds: 3600}});
	const {id} = await subscribe();

	setTime('2026-04-10T12:30:00Z');
	const waits = await stripe.subscriptions.retrieve(id, {expand: ['latest_invoice']});
	t.like(waits, {status: 'active', latest_invoice: {status: 'draft'}});
	setTime('2026-04-10T13:00:00Z');
	fake.advance();

	t.is(fake.charges.length, 2);
});

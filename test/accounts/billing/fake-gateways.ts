import {fail} from 'node:assert/strict';
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import Stripe from 'stripe';
import {startDevelopment} from '../../fakes/gateway/development.ts';
import type {StripeEvent} from '../../fakes/stripe/stripe.ts';
import {folderOf} from '../../helpers/folder.ts';
import {libraryFor, openCheckout, startStripe} from './_official-stripe.ts';
import {call, startPaymob} from './_paymob-calls.ts';

type Received = {path: string; headers: Record<string, string | string[] | undefined>; body: string};

/** Stands where the service's receivers would be, keeps what comes, and answers 200. */
const startReceiver = async (t: ExecutionContext) => {
	const received: Received[] = [];
	const waiting: Array<() => void> = [];
	const server = createServer(async (request, response) => {
		received.push({path: request.url ?? '', headers: request.headers, body: await text(request)});
		response.end('{}');
		waiting.shift()?.();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		received,
		next: () => new Promise<void>((resolve) => waiting.push(resolve)),
	};
};

test('Webhooks wait until they are delivered, in any order, again, together, or with a wrong signature', async (t) => {
	const {fake, stripe, clock, openCheckout} = await startStripe(t);
	const {url, received} = await startReceiver(t);
	fake.pay((await openCheckout()).id);
	t.is(received.length, 0);
	t.is(fake.events.length, 3);
	const [created, paid, completed] = fake.events as [StripeEvent, StripeEvent, StripeEvent];

	await fake.deliver(url, completed, created, completed);
	const ids = received.map(({body}) => JSON.parse(body).id);
	t.deepEqual(ids, [completed.id, created.id, completed.id]);
	t.deepEqual(fake.events, [paid]);
	await fake.deliverTogether(url, paid, paid);
	clock.advance(600);
	await fake.send(url, paid, {secret: 'whsec_other'});
	t.deepEqual(await fake.deliver(url), []);
	t.is(fake.history.length, 3);

	const verify = (index: number, tolerance?: number) => {
		const {body = '', headers} = received[index] ?? {};
		const header = String(headers?.['stripe-signature']);
		const at = clock.now().getTime();
		return stripe.webhooks.constructEvent(body, header, fake.env.STRIPE_WEBHOOK_SECRET, tolerance, undefined, at);
	};
	t.is(received[0]?.path, '/webhook/gateway-a');
	t.is(verify(0, 0).id, completed.id);
	t.throws(() => verify(0, 300), {message: /outside the tolerance/});
	t.throws(() => verify(5, 0), {instanceOf: Stripe.errors.StripeSignatureVerificationError});
});

test('Callbacks of gateway B carry their HMAC in the query', async (t) => {
	const {fake, createIntention, expectedHmac} = await startPaymob(t);
	const {url, received} = await startReceiver(t);
	await createIntention();
	fake.pay('att_1');
	const event = fake.events[0] ?? fail();

	t.like(await fake.deliver(url), [{status: 200, body: {}}]);
	t.like(received[0], {path: `/webhook/gateway-b?hmac=${expectedHmac(event)}`, body: event.body});
});

const develop = async (t: ExecutionContext, folder: string, serviceUrl: string) => {
	const ports = {stripe: 0, paymob: 0};
	const development = await startDevelopment({ports, serviceUrl, folder, clockOffset: 0, say: () => undefined});
	let isRunning = true;
	const stop = async () => {
		if (isRunning) {
			isRunning = false;
			await development.stop();
		}
	};
	t.teardown(stop);
	return {...development, library: libraryFor(development.stripe), stop};
};

test('In development webhooks go out by themselves, time can be moved, and a restart forgets nothing', async (t) => {
	const folder = await folderOf(t);
	const {url, received, next} = await startReceiver(t);
	const first = await develop(t, folder, url);
	const session = await openCheckout(first.library);
	const body = new URLSearchParams({action: 'pay'});
	const delivered = next();
	await fetch(session.url ?? '', {method: 'POST', redirect: 'manual', body});
	await delivered;
	await first.deliveries.stripe.settle(5);
	const types = received.map(({body: text}) => JSON.parse(text).type);
	t.deepEqual(types, ['customer.subscription.created', 'invoice.paid', 'checkout.session.completed']);
	t.regex(await (await fetch(new URL('/env', first.paymob.url))).text(), /export PAYMOB_HMAC_SECRET='oplink/);
	await first.stop();

	const second = await develop(t, folder, url);
	const renewed = next();
	const response = await fetch(new URL('/dev/advance', second.stripe.url), {method: 'POST', body: '{"days":32}'});
	t.is(response.status, 200);
	await renewed;
	await second.deliveries.stripe.settle(5);

	const {subscription} = await second.library.checkout.sessions.retrieve(session.id);
	const invoices = await second.library.invoices.list({subscription: String(subscription)});
	const paid = invoices.data.map(({billing_reason: reason, status}) => `${reason} ${status}`);
	t.deepEqual(paid, ['subscription_cycle paid', 'subscription_create paid']);
	t.deepEqual(await call(second.paymob, '/dev/cards', {card: 'tok', behavior: 'declines'}), {status: 200, body: {}});
	t.is(second.paymob.merchant.cards.get('tok'), 'declines');
});

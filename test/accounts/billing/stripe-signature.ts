import {createHmac, randomUUID} from 'node:crypto';
import test from 'ava';
import {anonymous, send} from '../../helpers/callers.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const BODY = '{"id":"evt_test_1","object":"event","type":"plan.created","data":{"object":{"id":"plan_1"}}}';
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const seconds = () => Math.floor(stage.portal.clock.now().getTime() / 1000);
const secret = () => stage.stripe.env.STRIPE_WEBHOOK_SECRET;
const v1 = (t = seconds(), body = BODY, key = secret()) => hmac(key, `${t}.${body}`);

const deliver = (signature: string | undefined, body = BODY) =>
	send(
		stage.portal.url,
		'POST',
		'/webhook/gateway-a',
		{'content-type': 'application/json', ...(signature === undefined ? {} : {'stripe-signature': signature})},
		body,
	);

const good: Record<string, () => string> = {
	'of now': () => `t=${seconds()},v1=${v1()}`,
	'of 300 s ago': () => `t=${seconds() - 300},v1=${v1(seconds() - 300)}`,
	'of 300 s ahead': () => `t=${seconds() + 300},v1=${v1(seconds() + 300)}`,
	'with the old secret’s beside it, as during a rotation': () =>
		`t=${seconds()},v1=${v1(seconds(), BODY, 'whsec_old')},v1=${v1()}`,
	'with one of another scheme beside it': () => `t=${seconds()},v0=${v1()},v1=${v1()}`,
};
for (const [what, signature] of Object.entries(good)) {
	test(`a delivery with a signature ${what} is 200`, async (t) => {
		const {status, body} = await deliver(signature());
		t.deepEqual({status, body}, {status: 200, body: {received: true}});
	});
}

const bad: Record<string, () => string | undefined> = {
	'no signature': () => undefined,
	'an empty one': () => '',
	'an invalid one': () => 'nonsense',
	'one without a time': () => `v1=${v1()}`,
	'one of another scheme alone': () => `t=${seconds()},v0=${v1()}`,
	'one by another secret': () => `t=${seconds()},v1=${v1(seconds(), BODY, 'whsec_other')}`,
	'one by the secret without its prefix': () =>
		`t=${seconds()},v1=${v1(seconds(), BODY, secret().replace('whsec_', ''))}`,
	'one over another body': () => `t=${seconds()},v1=${v1(seconds(), `${BODY} `)}`,
	'one over another time': () => `t=${seconds() + 1},v1=${v1()}`,
	'one of 301 s ago': () => `t=${seconds() - 301},v1=${v1(seconds() - 301)}`,
	'one of 301 s ahead': () => `t=${seconds() + 301},v1=${v1(seconds() + 301)}`,
	'an invalid time': () => `t=now,v1=${v1()}`,
	'more than any gateway signs with': () => `t=${seconds()},v1=${v1()}${',v1=x'.repeat(300)}`,
	'15 KB of times': () => `${'t=1,'.repeat(3700)}t=${seconds()},v1=${v1()}`,
};
for (const [what, signature] of Object.entries(bad)) {
	test(`a delivery with ${what} is 400`, async (t) => {
		const {status, body} = await deliver(signature());
		t.like({status, ...body}, {status: 400, error: 'Bad Request', message: 'Invalid webhook signature'});
	});
}

for (const body of [
	'not json',
	'{"id":"\\u0000","type":"x","data":{"object":{}}}',
	'{"id":"evt_1","type":"\\ud800","data":{"object":{}}}',
	`{"id":"${'e'.repeat(256)}","type":"x","data":{"object":{}}}`,
	'null',
	'[]',
	'{}',
	'{"id":"evt_1"}',
	'{"id":1,"type":"x","data":{"object":{}}}',
]) {
	test(`a signed body that is not an event is 400: ${body}`, async (t) => {
		t.is((await deliver(`t=${seconds()},v1=${v1(seconds(), body)}`, body)).status, 400);
	});
}

test('a signature that was made elsewhere verifies at its time', async (t) => {
	const clock = createFakeClock(new Date(1_767_225_600_000));
	const service = await startService(
		{STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_WEBHOOK_SECRET: 'whsec_test_secret'},
		clock,
	);
	t.teardown(() => service.stop());
	const {status} = await send(
		service.url,
		'POST',
		'/webhook/gateway-a',
		{
			'content-type': 'application/json',
			'stripe-signature': 't=1767225600,v1=14001c63bea2aed4e924c801f8f3d6aef2f351db2fc4f617cc26630f59a9c116',
		},
		'{"id":"evt_test_1","object":"event","type":"invoice.paid"}',
	);
	t.is(status, 200);
	const row = await service.services.db('gateway_events').where({event_key: 'evt_test_1'}).first();
	t.like(row, {outcome: 'IGNORED', reason: 'The event has no content.'});
});

for (const items of [
	undefined,
	null,
	{},
	{data: null},
	{data: [null]},
	{data: [{}]},
	{data: [{price: {id: 'x'}}]},
	{data: 'text'},
	7,
]) {
	const sent = JSON.stringify({items});
	test(`an unknown deleted subscription with ${sent} is IGNORED`, async (t) => {
		const id = `evt_deleted_${sent}`;
		const object = {id: 'sub_of_nobody', items, metadata: {orgId: randomUUID(), attemptId: randomUUID()}};
		const body = JSON.stringify({id, type: 'customer.subscription.deleted', data: {object}});
		t.is((await deliver(`t=${seconds()},v1=${v1(seconds(), body)}`, body)).status, 200);
		const row = await stage.portal.services.db('gateway_events').where({event_key: id}).first();
		t.like(row, {outcome: 'IGNORED', reason: 'The gateway does not know the subscription.'});
	});
}

for (const id of ['\0', '\ud800', '', {a: 1}, 7]) {
	test(`a subscription of the id ${JSON.stringify(id)} is none`, async (t) => {
		const eventId = `evt_id_${JSON.stringify(id)}`;
		const object = {id, subscription: id, customer: id, metadata: {orgId: randomUUID(), attemptId: randomUUID()}};
		const body = JSON.stringify({id: eventId, type: 'customer.subscription.updated', data: {object}});
		t.is((await deliver(`t=${seconds()},v1=${v1(seconds(), body)}`, body)).status, 200);
		const row = await stage.portal.services.db('gateway_events').where({event_key: eventId}).first();
		t.like(row, {outcome: 'IGNORED', reference: null});
	});
}

test('an event whose metadata names an attempt by a thousandfold nested array is none of ours', async (t) => {
	const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
	const metadata = `{"orgId":"${randomUUID()}","attemptId":${deep}}`;
	const object = `{"id":"cs_deep","subscription":"sub_deep","metadata":${metadata}}`;
	const body = `{"id":"evt_deep","type":"checkout.session.completed","data":{"object":${object}}}`;
	t.is((await deliver(`t=${seconds()},v1=${v1(seconds(), body)}`, body)).status, 200);
	const row = await stage.portal.services.db('gateway_events').where({event_key: 'evt_deep'}).first();
	t.like(row, {outcome: 'IGNORED', reason: 'Oplink did not create this subscription.'});
});

for (const type of [
	'checkout.session.completed',
	'checkout.session.expired',
	'customer.subscription.updated',
	'customer.subscription.deleted',
	'invoice.paid',
]) {
	test(`an event of the type ${type} about an empty object is IGNORED`, async (t) => {
		const body = JSON.stringify({id: `evt_${type}`, type, data: {object: {}}});
		t.is((await deliver(`t=${seconds()},v1=${v1(seconds(), body)}`, body)).status, 200);
		const row = await stage.portal.services
			.db('gateway_events')
			.where({event_key: `evt_${type}`})
			.first();
		t.is(row.outcome, 'IGNORED');
	});
}

test('without the gateway, or without its webhook secret, every delivery is 400', async (t) => {
	for (const env of [{}, {STRIPE_SECRET_KEY: 'sk_test_x'}]) {
		const service = await startService(env);
		const header = {'stripe-signature': `t=${seconds()},v1=${v1(seconds(), '{}', '')}`};
		t.is((await anonymous(service).post('/webhook/gateway-a', {}, header)).status, 400);
		await service.stop();
	}
});

test('an event of a type that means nothing here is noted once as IGNORED', async (t) => {
	const event = stage.stripe.event('customer.created', {id: 'cus_1'});
	await stage.stripe.send(stage.portal, event);
	const row = await stage.portal.services.db('gateway_events').where({event_key: event.id}).first();
	t.like(row, {outcome: 'IGNORED', reason: 'Events of the type customer.created change nothing.', deliveries: 1});
});

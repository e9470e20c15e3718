import {fail} from 'node:assert/strict';
import {createHmac, randomUUID} from 'node:crypto';
import test, {type ExecutionContext} from 'ava';
import {createGateways} from '../../../src/accounts/billing/create-gateways.ts';
import {hmacOf} from '../../../src/accounts/billing/paymob/paymob-hmac.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {spoiled} from './_spoiled.ts';
import {startStripeStage} from './_stripe-stage.ts';

const SECRET = 'whsec_test_secret';
const stage = startedFor(test, () => startStripeStage({STRIPE_WEBHOOK_SECRET: SECRET}));
test.serial.before(() => stage.portal.clock.set(new Date(1_767_225_600_000)));

const BODY = '{"id":"evt_test_2","object":"event","type":"plan.created","data":{"object":{"id":"plan_1"}}}';
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const now = () => Math.floor(stage.portal.clock.now().getTime() / 1000);
const v1 = (t = now(), body = BODY, key = SECRET) => hmac(key, `${t}.${body}`);
const signedAt = (t: number) => `t=${t},v1=${v1(t)}`;

const deliver = (signature: string | undefined, body = BODY) =>
	anonymous(stage.portal).post(
		'/webhook/gateway-a',
		body,
		signature === undefined ? {} : {'stripe-signature': signature},
	);

/** Delivers a body with a right signature. @returns the status, and the row of the ledger. */
const deliverSigned = async (body: string) => {
	const {status} = await deliver(`t=${now()},v1=${v1(now(), body)}`, body);
	const row = await stage.entryOf(JSON.parse(body) as {id: string});
	return {status, outcome: row?.['outcome'], reason: row?.['reason'], reference: row?.['reference']};
};

const good: Record<string, () => string> = {
	'of now': () => signedAt(now()),
	'of 300 s ago': () => signedAt(now() - 300),
	'of 300 s ahead': () => signedAt(now() + 300),
	'with the old secret’s beside it, as during a rotation': () =>
		`t=${now()},v1=${v1(now(), BODY, 'whsec_old')},v1=${v1()}`,
	'with one of another scheme beside it': () => `t=${now()},v0=${v1()},v1=${v1()}`,
};
test('a delivery with a right signature is 200', async (t) => {
	for (const [what, signature] of Object.entries(good)) {
		const {status, body} = await deliver(signature());
		t.deepEqual({status, body}, {status: 200, body: {received: true}}, what);
	}
});

const bad: Record<string, () => string | undefined> = {
	'no signature': () => undefined,
	'an empty one': () => '',
	'an invalid one': () => 'nonsense',
	'one without a time': () => `v1=${v1()}`,
	'one of another scheme alone': () => `t=${now()},v0=${v1()}`,
	'one by another secret': () => `t=${now()},v1=${v1(now(), BODY, 'whsec_other')}`,
	'one by the secret without its prefix': () => `t=${now()},v1=${v1(now(), BODY, SECRET.replace('whsec_', ''))}`,
	'one over another body': () => `t=${now()},v1=${v1(now(), `${BODY} `)}`,
	'one over another time': () => `t=${now() + 1},v1=${v1()}`,
	'one of 301 s ago': () => signedAt(now() - 301),
	'one of 301 s ahead': () => signedAt(now() + 301),
	'an invalid time': () => `t=now,v1=${v1()}`,
	'more than any gateway signs with': () => `t=${now()},v1=${v1()}${',v1=x'.repeat(300)}`,
	'15 KB of times': () => `${'t=1,'.repeat(3700)}t=${now()},v1=${v1()}`,
};
test('a delivery with any other signature is 400', async (t) => {
	for (const [what, signature] of Object.entries(bad)) {
		const {status, body} = await deliver(signature());
		t.like({status, ...body}, {status: 400, error: 'Bad Request', message: 'Invalid webhook signature'}, what);
	}
});

test('a signed body that is not an event is 400', async (t) => {
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
		t.is((await deliver(`t=${now()},v1=${v1(now(), body)}`, body)).status, 400, body);
	}
});

test('no text of a signed event makes it a 500 by a null character, and nothing of it is half stored', async (t) => {
	const owner = await stage.payer();
	const [paid] = stage.takeEvents().filter(({type}) => type === 'invoice.paid');
	for (const [index, body] of spoiled(JSON.parse(paid?.body ?? fail())).entries()) {
		const text = body.replace(`"${paid?.id}"`, `"evt_spoiled_${index}"`);
		const event = JSON.parse(text) as {id: string};
		const {status} = await deliver(`t=${now()},v1=${v1(now(), text)}`, text);
		const entry = /\0/.test(event.id) ? undefined : await stage.entryOf(event);
		t.true(status === 200 ? entry?.['reason'] !== '' : status === 400 && entry === undefined, `${status} ${text}`);
	}

	// Those that are stored with the event say so, and the payment is recorded once.
	const reviewed = (await stage.portal.services.db('gateway_events').where({outcome: 'REVIEW'})).map(
		({reason}) => reason,
	);
	t.true(reviewed.length > 0);
	t.true(reviewed.every((reason) => reason.includes('SQLSTATE 22021')));
	t.like(await owner.state(), {status: 'ACTIVE', invoices: 1});
});

test('a signature that was made elsewhere verifies at its time', async (t) => {
	const signature = 't=1767225600,v1=14001c63bea2aed4e924c801f8f3d6aef2f351db2fc4f617cc26630f59a9c116';
	t.is((await deliver(signature, '{"id":"evt_test_1","object":"event","type":"invoice.paid"}')).status, 200);
	t.like(await stage.entryOf({id: 'evt_test_1'}), {outcome: 'IGNORED', reason: 'The event has no content.'});
});

/** Delivers events of one type about objects of nobody. */
const areIgnored = async (t: ExecutionContext, type: string, objects: object[], expected: object): Promise<void> => {
	for (const object of objects) {
		const metadata = {orgId: randomUUID(), attemptId: randomUUID()};
		const body = JSON.stringify({id: `evt_${randomUUID()}`, type, data: {object: {metadata, ...object}}});
		t.like(await deliverSigned(body), {status: 200, outcome: 'IGNORED', ...expected}, body);
	}
};

test('an unknown deleted subscription is IGNORED, whatever its items are', async (t) => {
	const lists = [undefined, null, {}, {data: null}, {data: [null]}, {data: [{}]}, {data: [{price: {id: 'x'}}]}];
	const objects = [...lists, {data: 'text'}, 7].map((items) => ({id: 'sub_of_nobody', items}));
	const reason = 'The gateway does not know the subscription.';
	await areIgnored(t, 'customer.subscription.deleted', objects, {reason});
});

test('a subscription of an id that cannot be one is none', async (t) => {
	const objects = ['\0', '\ud800', '', {a: 1}, 7].map((id) => ({id, subscription: id, customer: id}));
	await areIgnored(t, 'customer.subscription.updated', objects, {reference: null});
});

test('an event whose metadata names an attempt by a thousandfold nested array is none of ours', async (t) => {
	const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
	const metadata = `{"orgId":"${randomUUID()}","attemptId":${deep}}`;
	const object = `{"id":"cs_deep","subscription":"sub_deep","metadata":${metadata}}`;
	const body = `{"id":"evt_deep","type":"checkout.session.completed","data":{"object":${object}}}`;
	const reason = 'Oplink did not create this subscription.';
	t.like(await deliverSigned(body), {status: 200, outcome: 'IGNORED', reason});
});

test('an event about an empty object is IGNORED', async (t) => {
	for (const type of [
		'checkout.session.completed',
		'checkout.session.expired',
		'customer.subscription.updated',
		'customer.subscription.deleted',
		'invoice.paid',
	]) {
		const body = JSON.stringify({id: `evt_${type}`, type, data: {object: {}}});
		t.like(await deliverSigned(body), {status: 200, outcome: 'IGNORED'}, type);
	}
});

test('without its webhook secret every event of the gateway is 400, and every callback of one that is off', async (t) => {
	const {services} = stage.portal;
	const config = loadConfig({STRIPE_SECRET_KEY: 'sk_test_x'});
	const {GATEWAY_A: gateway} = createGateways({...services, config, publicUrl: stage.portal.url});
	const headers = {'stripe-signature': `t=${now()},v1=${v1(now(), BODY, '')}`};
	const request = {rawBody: Buffer.from(BODY), headers, query: {}};
	t.like(await t.throwsAsync(async () => gateway?.receive({...services, config}, request)), {status: 400});
	const hmac = hmacOf('', '');
	t.is((await anonymous(stage.portal).post(`/webhook/gateway-b?hmac=${hmac}`, {type: 'TRANSACTION'})).status, 400);
});

test('an event of a type that means nothing here is noted once as IGNORED', async (t) => {
	const event = stage.stripe.event('customer.created', {id: 'cus_1'});
	await stage.stripe.send(stage.portal, event, {secret: SECRET});
	const reason = 'Events of the type customer.created change nothing.';
	t.like(await stage.entryOf(event), {outcome: 'IGNORED', reason, deliveries: 1});
});

import {fail} from 'node:assert/strict';
import test from 'ava';
import {createGateways} from '../../../src/accounts/billing/create-gateways.ts';
import {
	hmacOf,
	signedText,
	TOKEN_FIELDS,
	TRANSACTION_FIELDS,
} from '../../../src/accounts/billing/paymob/paymob-hmac.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {startPaymobStage} from './_paymob-stage.ts';
import {spoiled} from './_spoiled.ts';

const stage = startedFor(test, () => startPaymobStage());

const PATH = '/webhook/gateway-b';
const refused = {status: 400, message: 'Invalid webhook signature'};

const post = async (query: string, body: unknown) => {
	const answer = await anonymous(stage.portal).post(`${PATH}${query}`, body);
	return {status: answer.status, message: answer.body?.message};
};

const signed = (text: string): string => hmacOf(stage.paymob.env['PAYMOB_HMAC_SECRET'] ?? '', text);

test('a callback without the right HMAC is 400, and nothing is noted', async (t) => {
	const owner = await stage.atCheckout();
	const {sessionId} = owner.checkout;
	stage.paymob.pay(sessionId, {saveCard: true});
	for (const event of stage.paymob.eventsAbout(sessionId)) {
		const {hmac = ''} = stage.paymob.sign(event).query ?? {};
		const {hmac: forged = ''} = stage.paymob.sign(event, {secret: 'another'}).query ?? {};
		const queries = [
			'',
			'hmac=',
			`hmac=${forged}`,
			`hmac=${hmac.slice(1)}`,
			`hmac=${hmac}&hmac=${hmac}`,
			`hmac[]=${hmac}`,
		];
		for (const query of queries) {
			t.deepEqual(await post(`?${query}`, event.body), refused, query);
		}

		t.deepEqual(await post(`?hmac=${hmac}`, `${event.body}}`), refused);
		const changed = JSON.parse(event.body) as {obj: {created_at: string}};
		changed.obj.created_at = '2026-03-11T12:00:00';
		t.deepEqual(await post(`?hmac=${hmac}`, changed), refused);
	}

	const {db} = stage.portal.services;
	const orders = await stage.attemptsOf(owner, ['gateway_ref']);
	const references = orders.map((attempt) => String(attempt['gateway_ref']));
	t.deepEqual(await db('gateway_events').whereIn('reference', references), []);
	t.is((await owner.subscription()).status, 'INACTIVE');
	t.deepEqual(await stage.deliverOf(sessionId), [200, 200]);
	t.is((await owner.subscription()).status, 'ACTIVE');
});

test('a body that cannot be stored, written as a text or read is 400, though nothing at all is signed', async (t) => {
	const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
	const unwritable: unknown[] = [{toString: 'x'}, {valueOf: 1, toString: null}, {}, [[]]];
	for (const body of [
		`{"type":"TRANSACTION","obj":{"unsigned":${deep}}}`,
		deep,
		...unwritable.map((currency) => ({type: 'TRANSACTION', obj: {currency}})),
		...[{}, [], '"text"', 'null', {type: 'DELIVERY_STATUS', obj: {}}, '{"type":'],
	]) {
		t.deepEqual(await post(`?hmac=${signed('')}`, body), refused, JSON.stringify(body).slice(0, 80));
	}
});

test('a callback without any value is signed by the HMAC of nothing, and means nothing', async (t) => {
	for (const body of [{type: 'TRANSACTION'}, {type: 'TOKEN', obj: 1}]) {
		t.is((await post(`?hmac=${signed('')}`, body)).status, 200, JSON.stringify(body));
	}
});

test('no text of a signed callback makes it a 500 by a null character, and nothing of it is half stored', async (t) => {
	const owner = await stage.atCheckout();
	const {sessionId} = owner.checkout;
	stage.paymob.pay(sessionId, {saveCard: true});
	const events = stage.paymob.eventsAbout(sessionId).map(({body}) => JSON.parse(body) as {type: string; obj: object});
	const db = stage.portal.services.db('gateway_events');
	const bodies = events.flatMap((event) => spoiled(event).map((text) => JSON.parse(text) as typeof event));
	for (const [index, {type, obj}] of bodies.entries()) {
		// Of the same order, each with an id of its own: a repeated event is not applied.
		const body = {type, obj: {...obj, id: 7_000_000 + index}};
		const fields = type === 'TOKEN' ? TOKEN_FIELDS : TRANSACTION_FIELDS;
		const {status} = await post(`?hmac=${signed(signedText(body.obj, fields))}`, body);
		t.true(status === 200 || status === 400, `${status} ${JSON.stringify(body)}`);
	}

	for (const trigger of ['can\0celed', 'can\ud83dceled', 'c'.repeat(9000)]) {
		const event = {trigger_type: trigger, subscription_data: {id: 1265}};
		t.is((await post('', {...event, hmac: signed(`${trigger}for1265`)})).status, 200, trigger);
	}

	t.deepEqual(await db.where({reason: ''}).orWhere('event_key', 'like', '%for1265'), []);
});

test("an event of the gateway's own subscriptions is noted and changes nothing, if its HMAC is right", async (t) => {
	const paid = await stage.subscribed();
	const before = await paid.subscription();
	const event = {
		paymob_request_id: 'df9e4ecf-0000-4000-8000-000000000000',
		trigger_type: 'canceled',
		subscription_data: {id: 1264, state: 'canceled', initial_transaction: paid.payment.id},
		transaction_id: paid.payment.id,
	};
	t.deepEqual(await post('', {...event, hmac: signed('suspendedfor1264')}), refused);
	t.deepEqual(await post(`?hmac=${signed('canceledfor1264')}`, event), refused);
	t.is((await post('', {...event, hmac: signed('canceledfor1264')})).status, 200);
	t.is((await post('', {...event, transaction_id: 1, hmac: signed('canceledfor1264')})).status, 200);
	const noted = await stage.portal.services.db('gateway_events').where({type: 'SUBSCRIPTION'});
	t.is(noted.length, 1);
	t.like(noted[0], {outcome: 'IGNORED', deliveries: 2});
	t.deepEqual(await paid.subscription(), before);
});

test('without its HMAC secret every callback of the gateway is 400, and every event of one that is off', async (t) => {
	const paid = await stage.subscribed();
	const event = stage.paymob.history.find(({object}) => object.id === paid.payment.id) ?? fail('no event');
	const {PAYMOB_HMAC_SECRET: _, ...env} = stage.paymob.env;
	const {services} = stage.portal;
	const {GATEWAY_B: gateway} = createGateways({...services, config: loadConfig(env), publicUrl: stage.portal.url});
	for (const secret of ['', 'null', 'undefined']) {
		const {query = {}} = stage.paymob.sign(event, {secret});
		const request = {rawBody: Buffer.from(event.body), headers: {}, query};
		t.like(await t.throwsAsync(async () => gateway?.receive(services, request)), refused, secret);
	}

	const answer = await anonymous(stage.portal).post('/webhook/gateway-a', event.body);
	t.like(answer, {status: 400, body: {message: refused.message}});
});

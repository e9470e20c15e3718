import {fail} from 'node:assert/strict';
import test from 'ava';
import type {Transaction} from '../../fakes/paymob/paymob.ts';
import {signedText, startPaymob} from './_paymob-calls.ts';
import {SECRET, TOKEN_HMAC, TRANSACTION_HMAC, TRANSACTION_TEXT, token, transaction} from './_paymob-examples.ts';

test('The answer to an intention has the fields that a checkout and a charge need', async (t) => {
	const {createIntention} = await startPaymob(t);
	const {status, body} = await createIntention();

	t.is(status, 201);
	t.like(body, {
		object: 'paymentintention',
		status: 'intended',
		special_reference: 'att_1',
		intention_detail: {amount: 380_000, currency: 'EGP'},
		extras: {creation_extras: {attemptId: 'att_1', merchant_order_id: 'att_1'}},
	});
	t.is(typeof body['intention_order_id'], 'number');
});

test('An intention that is not right is refused with the faulty fields', async (t) => {
	const {call, createIntention} = await startPaymob(t);
	const required = ['This field is required.'];
	t.deepEqual(await createIntention({amount: undefined, items: [], billing_data: {first_name: 'Mona'}}), {
		status: 400,
		body: {amount: required, billing_data: {last_name: required, email: required, phone_number: required}},
	});
	t.is((await createIntention({payment_methods: [7]})).status, 404);
	t.is((await createIntention({items: [{name: 'GROWTH', amount: 1}]})).status, 406);
	t.is((await createIntention()).status, 201);
	t.is((await createIntention()).status, 422);
	const stranger = await call('/v1/intention/', {}, 'Token wrong');
	t.deepEqual(stranger, {status: 401, body: {detail: 'Invalid token.'}});
	t.is((await call('/v1/intention/', {})).status, 401);
});

test('A payment with a saved card calls back twice, signed over the fields of the lists', async (t) => {
	const {fake, createIntention, expectedHmac} = await startPaymob(t);
	const {body} = await createIntention();

	fake.decline('att_1');
	const paid = fake.pay(Number(body['intention_order_id']), {saveCard: true});

	const types = fake.events.map(({type}) => type);
	t.deepEqual(types, ['TRANSACTION', 'TRANSACTION', 'TOKEN']);
	t.like(fake.events[0]?.object, {success: false, pending: false, data: {message: 'Declined'}});
	t.like(fake.events[1]?.object, {
		success: true,
		pending: false,
		is_3d_secure: true,
		order: {id: body['intention_order_id'], merchant_order_id: 'att_1', paid_amount_cents: 380_000},
	});
	t.like(fake.events[2]?.object, {order_id: String(body['intention_order_id']), masked_pan: 'xxxx-xxxx-xxxx-2346'});
	for (const event of fake.events) {
		t.deepEqual(fake.sign(event), {query: {hmac: expectedHmac(event)}});
		t.notDeepEqual(fake.sign(event, {secret: 'other'}), fake.sign(event));
	}
	t.is(fake.charges.length, 1);
	t.like(fake.charges[0], {transactionId: paid.id, amount: 380_000, attemptId: 'att_1', isMoto: false});
});

test('The examples of the documentation have the signatures that it gives', async (t) => {
	const {fake} = await startPaymob(t, {keys: {hmacSecret: SECRET}});
	const paid = fake.event('TRANSACTION', transaction as unknown as Transaction);
	const saved = fake.event('TOKEN', {...token, user_added: false, next_payment_intention: 'pi_test_0a1b2c'});
	t.is(signedText(paid.body), TRANSACTION_TEXT);
	t.is(fake.sign(paid).query?.['hmac'], TRANSACTION_HMAC);
	t.is(fake.sign(saved).query?.['hmac'], TOKEN_HMAC);
});

test('A charge whose answer is lost is known to its callback and to the inquiry', async (t) => {
	const {fake, clock, secret, call, saveCard, paySaved} = await startPaymob(t);
	const token = await saveCard();
	fake.events.length = 0;

	fake.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true});
	await t.throwsAsync(() => paySaved(token, 'att_2'));

	t.like(fake.events[0]?.object, {success: true, order: {merchant_order_id: 'att_2'}});
	const inquire = (authorization: string) =>
		call('/api/ecommerce/orders/transaction_inquiry', {merchant_order_id: 'att_2'}, authorization);
	t.is((await inquire(secret)).status, 401);
	const login = await call('/api/auth/tokens', {api_key: fake.env['PAYMOB_API_KEY']});
	t.is(login.status, 201);
	const bearer = `Bearer ${login.body['token']}`;
	const found = await inquire(bearer);
	t.like(found, {status: 200, body: {success: true, id: fake.charges[1]?.transactionId}});
	const read = await call(`/api/acceptance/transactions/${found.body['id']}`, null, bearer);
	t.deepEqual(read.body, found.body);
	clock.advance(3600);
	t.is((await inquire(bearer)).status, 401);
});

test('Money is refunded in part or in full, and the callback shows the payment', async (t) => {
	const {fake, clock, secret, call, createIntention} = await startPaymob(t);
	await createIntention();
	const {id} = fake.pay('att_1');
	fake.events.length = 0;
	const refund = (amount: number) =>
		call('/api/acceptance/void_refund/refund', {transaction_id: id, amount_cents: amount}, secret);

	t.like((await refund(80_000)).body, {is_refund: true, has_parent_transaction: true, parent_transaction: id});
	t.is((await refund(300_001)).status, 400);
	t.is((await refund(300_000)).status, 200);

	t.like(fake.events[0]?.object, {id, success: true, is_refunded: true, refunded_amount_cents: 80_000});
	t.like(fake.events[1]?.object, {id, refunded_amount_cents: 380_000});
	t.is(fake.charges[0]?.refunded, 380_000);

	await createIntention({special_reference: 'att_2'});
	const second = fake.pay('att_2');
	clock.advance(86_400);
	const path = '/api/acceptance/void_refund/void';
	t.is((await call(path, {transaction_id: second.id}, secret)).status, 400);
});

test('An intention dies of age', async (t) => {
	const {fake, clock, createIntention} = await startPaymob(t);
	await createIntention();

	clock.advance(3600);

	t.throws(() => fake.pay('att_1'), {message: /expired/});
	t.is(fake.charges.length, 0);
});

test('A person pays on the hosted page, and returns with the fields and their signature', async (t) => {
	const {fake, createIntention, expectedHmac} = await startPaymob(t);
	const {body} = await createIntention({redirection_url: 'https://portal.example.com/return'});
	const url = new URL(fake.env['PAYMOB_CHECKOUT_URL'] ?? '');
	url.searchParams.set('publicKey', fake.env['PAYMOB_PUBLIC_KEY'] ?? '');
	url.searchParams.set('clientSecret', String(body['client_secret']));
	const post = (fields: Record<string, string>) =>
		fetch(url, {method: 'POST', redirect: 'manual', body: new URLSearchParams(fields)});

	t.regex(await (await fetch(url)).text(), /3800\.00 EGP/);
	t.regex(await (await post({action: 'decline'})).text(), /declined/);
	const paid = await post({action: 'pay', save_card: 'true'});

	t.is(paid.status, 303);
	const back = new URL(paid.headers.get('location') ?? '');
	const [, event] = fake.events;
	t.is(back.searchParams.get('hmac'), expectedHmac(event ?? fail()));
	t.is(back.searchParams.get('order'), String(body['intention_order_id']));
	t.is(fake.merchant.savedCards.size, 1);
	t.regex(await (await fetch(url)).text(), /It is paid/);
});

import {fail} from 'node:assert/strict';
import test from 'ava';
import {
	hmacOf,
	isHmac,
	signedSubscriptionText,
	signedText,
	TOKEN_FIELDS,
	TRANSACTION_FIELDS,
} from '../../../src/accounts/billing/paymob/paymob-hmac.ts';
import {
	isPayment,
	isReversed,
	readTransaction,
	transactionKey,
} from '../../../src/accounts/billing/paymob/paymob-payloads.ts';
import {SECRET, TOKEN_HMAC, TRANSACTION_HMAC, TRANSACTION_TEXT, token, transaction} from './_paymob-examples.ts';

const SUBSCRIPTION_HMAC =
	'f32310c1e6c66fd43370bce611a6e27a9a88aea2af346354e04da00af0e96cef5714280516070fbfcc91a1df78f958835e256085b1b72777d2d07f5a7a4d79ed';

test('the 20 values of a transaction are joined and signed as the gateway does it', (t) => {
	const text = signedText(transaction, TRANSACTION_FIELDS);
	t.is(text, TRANSACTION_TEXT);
	t.is(hmacOf(SECRET, text), TRANSACTION_HMAC);
	t.true(isHmac(TRANSACTION_HMAC, SECRET, text));
});

test('the 8 values of a saved card are joined and signed as the gateway does it', (t) => {
	const text = signedText(token, TOKEN_FIELDS);
	t.is(
		text,
		'MasterCard2026-01-15T10:20:31.000001owner@acme.test8000001xxxx-xxxx-xxxx-2346700001301234567tok_0123456789abcdef',
	);
	t.true(isHmac(TOKEN_HMAC, SECRET, text));
});

test("an event of the gateway's own subscriptions is signed over two values", (t) => {
	const text = signedSubscriptionText({trigger_type: 'suspended', subscription_data: {id: 1264}});
	t.is(text, 'suspendedfor1264');
	t.true(isHmac(SUBSCRIPTION_HMAC, SECRET, text));
});

test('a missing or null value is signed as nothing', (t) => {
	const holes = {...transaction, owner: null, source_data: undefined};
	t.is(signedText(holes, ['owner', 'source_data.pan', 'success']), 'true');
	t.is(signedText(null, ['id']), '');
});

test('an HMAC is one text of 128 hex digits', (t) => {
	const text = signedText(transaction, TRANSACTION_FIELDS);
	const wrong = [
		undefined,
		null,
		'',
		[TRANSACTION_HMAC],
		[TRANSACTION_HMAC, TRANSACTION_HMAC],
		TRANSACTION_HMAC.slice(1),
		`${TRANSACTION_HMAC}00`,
		`${TRANSACTION_HMAC.slice(0, -1)}g`,
		TOKEN_HMAC,
	];
	for (const value of wrong) {
		t.false(isHmac(value, SECRET, text), String(value));
	}

	t.false(isHmac(TRANSACTION_HMAC, 'another secret', text));
});

test('digits that moved between neighboring values keep the HMAC but make no transaction', (t) => {
	const text = signedText(transaction, TRANSACTION_FIELDS);
	for (const moved of [
		{amount_cents: 24990, created_at: `0${transaction.created_at}`},
		{id: 5012345674, integration_id: '000001'},
	]) {
		const other = {...transaction, ...moved};
		t.is(signedText(other, TRANSACTION_FIELDS), text);
		t.is(readTransaction({type: 'TRANSACTION', obj: other}), null);
	}
});

test('a transaction is read bare or wrapped', (t) => {
	const expected = {
		id: '501234567',
		orderId: '301234567',
		amount: 249900,
		currency: 'EGP',
		integrationId: '4000001',
		success: true,
		pending: false,
		isAuth: false,
		isVoided: false,
		isRefunded: false,
		hasParent: false,
		hasError: false,
		refunded: 0,
	};
	t.deepEqual(readTransaction(transaction), expected);
	t.deepEqual(readTransaction({type: 'TRANSACTION', obj: transaction}), expected);
	for (const nothing of [null, 'text', {}, {obj: null}, {...transaction, order: null}, {...transaction, id: 'x'}]) {
		t.is(readTransaction(nothing), null);
	}
});

const read = (changes: object) => readTransaction({...transaction, ...changes}) ?? fail('no transaction');

test('only a success that is neither pending nor undone nor part of another is a payment', (t) => {
	t.true(isPayment(read({})));
	t.false(isPayment(read({success: false})));
	for (const field of 'pending is_auth is_voided is_refunded error_occured has_parent_transaction'.split(' ')) {
		t.false(isPayment(read({[field]: true})), field);
	}
});

test('unsigned fields do not change the kind of a payment', (t) => {
	t.true(isPayment(read({is_refund: true, is_void: true, parent_transaction: 1, refunded_amount_cents: 249900})));
	t.is(transactionKey(read({refunded_amount_cents: 5})), transactionKey(read({})));
});

test('a void, and a refund of the whole, are reversals; a part is not', (t) => {
	t.true(isReversed(read({is_voided: true})));
	t.true(isReversed(read({is_refunded: true, refunded_amount_cents: 249900})));
	t.true(isReversed(read({is_refunded: true, refunded_amount_cents: undefined})));
	t.false(isReversed(read({is_refunded: true, refunded_amount_cents: 249899})));
	t.false(isReversed(read({is_voided: true, has_parent_transaction: true})));
	t.is(transactionKey(read({is_refunded: true, refunded_amount_cents: 100})), 'tx:501234567:true:false:false:true:100');
});

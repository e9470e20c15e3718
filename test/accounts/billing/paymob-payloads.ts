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

const SECRET = 'test_hmac_secret';

/** The published vectors of contract/billing 22, contract/billing 24, contract/billing 26. */
const transaction = {
	id: 501234567,
	pending: false,
	amount_cents: 249900,
	success: true,
	is_auth: false,
	is_capture: false,
	is_standalone_payment: true,
	is_voided: false,
	is_refunded: false,
	is_3d_secure: true,
	integration_id: 4000001,
	profile_id: 700001,
	has_parent_transaction: false,
	parent_transaction: null,
	is_refund: false,
	is_void: false,
	refunded_amount_cents: 0,
	order: {id: 301234567, created_at: '2026-01-15T10:19:58.000001', merchant_order_id: 'att_7f0c'},
	created_at: '2026-01-15T10:20:30.123456',
	currency: 'EGP',
	error_occured: false,
	owner: 900001,
	source_data: {pan: '2346', type: 'card', sub_type: 'MasterCard'},
};
const token = {
	id: 8000001,
	token: 'tok_0123456789abcdef',
	masked_pan: 'xxxx-xxxx-xxxx-2346',
	merchant_id: 700001,
	card_subtype: 'MasterCard',
	created_at: '2026-01-15T10:20:31.000001',
	email: 'owner@acme.test',
	order_id: '301234567',
};
const TRANSACTION_HMAC =
	'65bda4a2d96eee1f8ee9f935cc3876df8023ed023355e17c6f7da81cbaaafd50e25419d5c38734599c680ea4117bbd66ebf050b59ba1035eea56c7acd0c9c8b2';
const TOKEN_HMAC =
	'74811d50e2527aad34241c9d58e5878d7542d47975a6f0f99fec6801a73a07f65cb12c494d69bae6d032aef562ba923bddd0e0253763007273e3dec9013dee3e';
const SUBSCRIPTION_HMAC =
	'f32310c1e6c66fd43370bce611a6e27a9a88aea2af346354e04da00af0e96cef5714280516070fbfcc91a1df78f958835e256085b1b72777d2d07f5a7a4d79ed';

test('the 20 values of a transaction are joined and signed as the gateway does it', (t) => {
	const text = signedText(transaction, TRANSACTION_FIELDS);
	t.is(
		text,
		'2499002026-01-15T10:20:30.123456EGPfalsefalse5012345674000001truefalsefalsefalsetruefalse301234567900001false2346MasterCardcardtrue',
	);
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
	t.is(
		signedText({...transaction, owner: null, source_data: undefined}, ['owner', 'source_data.pan', 'success']),
		'true',
	);
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
	const shifted = {...transaction, amount_cents: 24990, created_at: `0${transaction.created_at}`};
	t.is(signedText(shifted, TRANSACTION_FIELDS), text);
	t.is(readTransaction({type: 'TRANSACTION', obj: shifted}), null);
	const other = {...transaction, id: 5012345674, integration_id: '000001'};
	t.is(signedText(other, TRANSACTION_FIELDS), text);
	t.is(readTransaction({type: 'TRANSACTION', obj: other}), null);
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

const read = (changes: object) => {
	const found = readTransaction({...transaction, ...changes});
	if (found === null) {
		throw new Error('no transaction');
	}

	return found;
};

test('only a success that is neither pending nor undone nor part of another is a payment', (t) => {
	t.true(isPayment(read({})));
	const others = [
		{success: false},
		{pending: true},
		{is_auth: true},
		{is_voided: true},
		{is_refunded: true},
		{error_occured: true},
		{has_parent_transaction: true},
	];
	for (const change of others) {
		t.false(isPayment(read(change)), JSON.stringify(change));
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

/** The published vectors of contract/billing 22, contract/billing 24, contract/billing 26. */
export const SECRET = 'test_hmac_secret';

export const transaction = {
	id: 501_234_567,
	pending: false,
	amount_cents: 249_900,
	success: true,
	is_auth: false,
	is_capture: false,
	is_standalone_payment: true,
	is_voided: false,
	is_refunded: false,
	is_3d_secure: true,
	integration_id: 4_000_001,
	profile_id: 700_001,
	has_parent_transaction: false,
	parent_transaction: null,
	is_refund: false,
	is_void: false,
	refunded_amount_cents: 0,
	order: {id: 301_234_567, created_at: '2026-01-15T10:19:58.000001', merchant_order_id: 'att_7f0c'},
	created_at: '2026-01-15T10:20:30.123456',
	currency: 'EGP',
	error_occured: false,
	owner: 900_001,
	source_data: {pan: '2346', type: 'card', sub_type: 'MasterCard'},
};
export const token = {
	id: 8_000_001,
	token: 'tok_0123456789abcdef',
	masked_pan: 'xxxx-xxxx-xxxx-2346',
	merchant_id: 700_001,
	card_subtype: 'MasterCard',
	created_at: '2026-01-15T10:20:31.000001',
	email: 'owner@acme.test',
	order_id: '301234567',
};

export const TRANSACTION_TEXT =
	'2499002026-01-15T10:20:30.123456EGPfalsefalse5012345674000001truefalsefalsefalsetruefalse301234567900001false' +
	'2346MasterCardcardtrue';
export const TRANSACTION_HMAC =
	'65bda4a2d96eee1f8ee9f935cc3876df8023ed023355e17c6f7da81cbaaafd50e25419d5c38734599c680ea4117bbd66ebf050b59ba1035e' +
	'ea56c7acd0c9c8b2';
export const TOKEN_HMAC =
	'74811d50e2527aad34241c9d58e5878d7542d47975a6f0f99fec6801a73a07f65cb12c494d69bae6d032aef562ba923bddd0e0253763007273' +
	'e3dec9013dee3e';

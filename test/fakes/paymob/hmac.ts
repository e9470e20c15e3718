import {createHmac} from 'node:crypto';
import type {SavedCard, Transaction} from './merchant.ts';

/** The signed values of a transaction, in the order of contract/billing 22. */
const transactionValues = (t: Transaction): unknown[] => [
	t.amount_cents,
	t.created_at,
	t.currency,
	t.error_occured,
	t.has_parent_transaction,
	t.id,
	t.integration_id,
	t.is_3d_secure,
	t.is_auth,
	t.is_capture,
	t.is_refunded,
	t.is_standalone_payment,
	t.is_voided,
	t.order.id,
	t.owner,
	t.pending,
	t.source_data.pan,
	t.source_data.sub_type,
	t.source_data.type,
	t.success,
];

/** The signed values of a saved card, in the order of contract/billing 24. */
const cardValues = (card: SavedCard): unknown[] => [
	card.card_subtype,
	card.created_at,
	card.email,
	card.id,
	card.masked_pan,
	card.merchant_id,
	card.order_id,
	card.token,
];

/** Joined without a separator; what is missing or null is empty. */
const sign = (values: unknown[], secret: string): string =>
	createHmac('sha512', secret)
		.update(values.map((value) => String(value ?? '')).join(''))
		.digest('hex');

/** `?hmac=` of a callback. Only these values are signed, whatever else the body says. */
export const hmacOf = (object: Transaction | SavedCard, secret: string): string =>
	sign('token' in object ? cardValues(object) : transactionValues(object), secret);

import {createHmac} from 'node:crypto';
import type {SavedCard} from './merchant.ts';
import type {Transaction} from './transactions.ts';

/** The signed values of a transaction, in the order of contract/billing 22. */
const TRANSACTION_VALUES =
	'amount_cents created_at currency error_occured has_parent_transaction id integration_id is_3d_secure is_auth ' +
	'is_capture is_refunded is_standalone_payment is_voided order.id owner pending source_data.pan ' +
	'source_data.sub_type source_data.type success';

/** The signed values of a saved card, in the order of contract/billing 24. */
const CARD_VALUES = 'card_subtype created_at email id masked_pan merchant_id order_id token';

/**
 * `?hmac=` of a callback, over its values joined without a separator; what is missing or null is empty. Only these are
 * signed, whatever else the body says.
 */
export const hmacOf = (object: Transaction | SavedCard, secret: string): string => {
	const names = ('token' in object ? CARD_VALUES : TRANSACTION_VALUES).split(' ');
	const valueAt = (name: string): unknown =>
		name.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), object);
	return createHmac('sha512', secret)
		.update(names.map((name) => String(valueAt(name) ?? '')).join(''))
		.digest('hex');
};

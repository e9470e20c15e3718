import {createHmac, timingSafeEqual} from 'node:crypto';

/** The 20 signed values of a transaction, in the order in which they are signed (contract/billing 22). */
export const TRANSACTION_FIELDS = [
	'amount_cents',
	'created_at',
	'currency',
	'error_occured',
	'has_parent_transaction',
	'id',
	'integration_id',
	'is_3d_secure',
	'is_auth',
	'is_capture',
	'is_refunded',
	'is_standalone_payment',
	'is_voided',
	'order.id',
	'owner',
	'pending',
	'source_data.pan',
	'source_data.sub_type',
	'source_data.type',
	'success',
] as const;

/** The 8 signed values of a saved card (contract/billing 24). */
export const TOKEN_FIELDS = [
	'card_subtype',
	'created_at',
	'email',
	'id',
	'masked_pan',
	'merchant_id',
	'order_id',
	'token',
] as const;

/** The value at a dotted path. */
const valueAt = (value: unknown, path: string): unknown =>
	path
		.split('.')
		.reduce<unknown>(
			(at, name) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined),
			value,
		);

/** A value as it is signed: numbers in decimal, `true`, `false`, text; nothing for null or a missing value. */
const signedForm = (value: unknown): string => {
	// Paymob signs no objects, and a forged one may have a `toString` that is not a function.
	if (typeof value === 'object' && value !== null) {
		return '[object]';
	}

	return value === undefined || value === null ? '' : String(value);
};

/** The signed text: the values of `fields`, joined without a separator. */
export const signedText = (obj: unknown, fields: readonly string[]): string =>
	fields.map((field) => signedForm(valueAt(obj, field))).join('');

/** The signed text of Paymob's subscription module: two values only (contract/billing 26). */
export const signedSubscriptionText = (body: unknown): string =>
	`${signedForm(valueAt(body, 'trigger_type'))}for${signedForm(valueAt(body, 'subscription_data.id'))}`;

/** HMAC-SHA512 in lower-case hex. */
export const hmacOf = (secret: string, text: string): string => createHmac('sha512', secret).update(text).digest('hex');

/**
 * Whether `given` is the HMAC of `text`, in constant time. The format is checked first: a repeated `?hmac=` arrives as an
 * array, and comparing different lengths throws.
 */
export const isHmac = (given: unknown, secret: string, text: string): boolean =>
	typeof given === 'string' &&
	/^[0-9a-f]{128}$/.test(given) &&
	timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(hmacOf(secret, text), 'hex'));

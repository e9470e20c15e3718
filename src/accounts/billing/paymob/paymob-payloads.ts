import {fieldsOf} from '../../../platform/http/untrusted-json.ts';
/**
 * The fields that Oplink reads. All but `refunded` are signed in a callback. Unsigned fields (`merchant_order_id`,
 * `extra`, `is_refund`, …) could be forged by anyone who has one genuine callback (contract/billing 22).
 */
export type PaymobTransaction = {
	id: string;
	orderId: string;
	/** Minor units. */
	amount: number;
	currency: string;
	integrationId: string;
	success: boolean;
	pending: boolean;
	isAuth: boolean;
	isVoided: boolean;
	isRefunded: boolean;
	/** A refund, a void or a capture of another transaction. */
	hasParent: boolean;
	hasError: boolean;
	/** The refunded amount in minor units, unsigned. */
	refunded: number;
};

export type PaymobCard = {id: string; orderId: string; token: string; brand: string | null; last4: string | null};

type Fields = Record<string, unknown>;

/** An id as text; Paymob sends some as numbers. */
const idOf = (value: unknown): string | null => {
	const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
	return typeof text === 'string' && /^[1-9]\d{0,18}$/.test(text) ? text : null;
};

const amountOf = (value: unknown): number | null => {
	const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
	return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
};

/**
 * Whether the format is a time's: signed values are joined without a separator, so a digit of the amount could otherwise
 * move into the year.
 */
const isTime = (value: unknown): boolean =>
	typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?$/.test(value);

/** The content of the envelope `{type, obj}`, which only some answers have (contract/billing 21). */
export const unwrapped = (value: unknown): Fields => {
	const {obj} = fieldsOf(value);
	return obj === undefined ? fieldsOf(value) : fieldsOf(obj);
};

/** Reads a transaction of a callback or an answer. @returns null if it is invalid. */
export const readTransaction = (value: unknown): PaymobTransaction | null => {
	const obj = unwrapped(value);
	const {order} = obj;
	const [id, orderId, integrationId] = [
		idOf(obj.id),
		idOf(typeof order === 'object' ? fieldsOf(order).id : order),
		idOf(obj.integration_id),
	];
	const [amount, {currency}] = [amountOf(obj.amount_cents), obj];
	if (id === null || orderId === null || integrationId === null || amount === null || !isTime(obj.created_at)) {
		return null;
	}

	return {
		id,
		orderId,
		amount,
		currency: typeof currency === 'string' ? currency : '',
		integrationId,
		success: obj.success === true,
		pending: obj.pending === true,
		isAuth: obj.is_auth === true,
		isVoided: obj.is_voided === true,
		isRefunded: obj.is_refunded === true,
		hasParent: obj.has_parent_transaction === true,
		hasError: obj.error_occured === true,
		refunded: amountOf(obj.refunded_amount_cents) ?? 0,
	};
};

/** Reads a saved card. @returns null if it is invalid. */
export const readCard = (value: unknown): PaymobCard | null => {
	const obj = unwrapped(value);
	const [id, orderId, {token}] = [idOf(obj.id), idOf(obj.order_id), obj];
	if (id === null || orderId === null || typeof token !== 'string' || token === '') {
		return null;
	}

	const digits = /\d{4}$/.exec(typeof obj.masked_pan === 'string' ? obj.masked_pan : '');
	const {card_subtype: brand} = obj;
	return {id, orderId, token, brand: typeof brand === 'string' ? brand : null, last4: digits?.[0] ?? null};
};

/** Whether money was taken (contract/billing 22, by the signed fields: every refund and void has a parent). */
export const isPayment = (transaction: PaymobTransaction): boolean => {
	const {success, pending, isAuth, isVoided, isRefunded, hasError, hasParent} = transaction;
	return success && !pending && !isAuth && !isVoided && !isRefunded && !hasError && !hasParent;
};

/** Whether a payment was refunded in full; a refund without an amount counts as full. */
export const isReversed = ({success, hasParent, isVoided, isRefunded, refunded, amount}: PaymobTransaction): boolean =>
	success && !hasParent && (isVoided || (isRefunded && (refunded === 0 || refunded >= amount)));

/**
 * The event's key (contract/billing 23): the transaction and its state. The refunded amount counts only after a refund:
 * it is unsigned, so one genuine callback could otherwise be turned into any number of events.
 */
export const transactionKey = (transaction: PaymobTransaction): string => {
	const {id, success, pending, isVoided, isRefunded, refunded} = transaction;
	return `tx:${id}:${success}:${pending}:${isVoided}:${isRefunded}:${isRefunded ? refunded : 0}`;
};

export const cardKey = ({id}: PaymobCard): string => `tok:${id}`;

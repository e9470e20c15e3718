import type {Account} from './account.ts';
import type {Param} from './form.ts';
import {invalidParam} from './stripe-errors.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** The object behind an id, of whatever kind. */
const find = (account: Account, id: string): object | undefined =>
	[account.customers, account.subscriptions, account.invoices, account.schedules, account.sessions].flatMap((map) => {
		const found = map.get(id);
		return found === undefined ? [] : [found];
	})[0];

/** Lists that an object carries only where they are asked for. */
const extra = (account: Account, object: Fields, name: string): unknown => {
	const {id} = object;
	const list = (data: unknown[], url: string) => ({object: 'list', data, has_more: false, url});
	if (object['object'] === 'invoice' && name === 'payments') {
		return list(
			[...account.payments.values()].filter(({invoice}) => invoice === id),
			'/v1/invoice_payments',
		);
	}

	const order = account.orders.get(String(id));
	if (object['object'] === 'checkout.session' && name === 'line_items' && order !== undefined) {
		const {amount_subtotal, amount_total, currency} = object;
		const line = {id: `li_${String(id).slice(-14)}`, object: 'item', amount_discount: 0, amount_tax: 0};
		const price = account.prices.get(order.price);
		const {quantity} = order;
		return list([{...line, amount_subtotal, amount_total, currency, price, quantity}], `/v1/checkout/sessions/${id}`);
	}

	return undefined;
};

const expandPath = (account: Account, value: unknown, [name, ...rest]: string[], whole: string): void => {
	if (name === undefined) {
		return;
	}

	if (Array.isArray(value)) {
		for (const entry of value) {
			expandPath(account, entry, [name, ...rest], whole);
		}

		return;
	}

	if (!isFields(value)) {
		return;
	}

	const member = value[name] ?? structuredClone(extra(account, value, name));
	if (member === undefined) {
		throw invalidParam('expand', `This property cannot be expanded (${whole}).`);
	}

	const found = typeof member === 'string' ? find(account, member) : undefined;
	const expanded = found === undefined ? member : structuredClone(found);
	value[name] = expanded;
	expandPath(account, expanded, rest, whole);
};

/** A copy of an object for an answer, with the objects of these paths instead of their ids. */
export const expand = (account: Account, object: object, paths: Param | undefined): object => {
	const copy = structuredClone(object);
	for (const path of Array.isArray(paths) ? paths : []) {
		expandPath(account, copy, String(path).split('.'), String(path));
	}

	return copy;
};

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

/** An invoice carries the list of its payments only where it is asked for. */
const paymentsOf = (account: Account, {object, id}: Fields, name: string): unknown => {
	if (object !== 'invoice' || name !== 'payments') {
		return undefined;
	}

	const data = [...account.payments.values()].filter(({invoice}) => invoice === id);
	return {object: 'list', data, has_more: false, url: '/v1/invoice_payments'};
};

const expandPath = (account: Account, value: unknown, [name, ...rest]: string[], whole: string): void => {
	if (name === undefined || !isFields(value)) {
		return;
	}

	const member = value[name] ?? structuredClone(paymentsOf(account, value, name));
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

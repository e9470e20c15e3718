import {type Account, known} from './account.ts';
import {createSession, expireSession, readSession} from './checkout.ts';
import {createCustomer, readCustomer, updateCustomer} from './customers.ts';
import type {Params} from './form.ts';
import {createRefund, payInvoice, readInvoice} from './invoices.ts';
import {LIST_PARAMS, listPage} from './list.ts';
import {allowOnly, textOf} from './params.ts';
import {createPortal} from './portal.ts';
import {createSchedule, readSchedule, releaseSchedule, updateSchedule} from './schedules.ts';
import {noSuch} from './stripe-errors.ts';
import {cancelSubscription, readSubscription, updateSubscription} from './subscriptions.ts';

export type Resource = {
	method: 'GET' | 'POST' | 'DELETE';
	path: string;
	handle(account: Account, params: Params, id: string): object;
};

/** A list of what a map holds, narrowed by members that the query names; `all` narrows nothing. */
const list =
	(path: string, of: (account: Account) => Map<string, {id: string}>, filters: string[]): Resource['handle'] =>
	(account, params) => {
		allowOnly(params, [...LIST_PARAMS, ...filters]);
		const wanted = filters
			.map((name): [string, string | null] => [name, textOf(params, name)])
			.filter(([, value]) => value !== null && value !== 'all');
		const matching = [...of(account).values()].filter((object) =>
			wanted.every(([name, value]) => Reflect.get(object, name) === value),
		);
		return listPage(path, matching, params);
	};

const read =
	(handle: (account: Account, id: string) => object): Resource['handle'] =>
	(account, params, id) => {
		allowOnly(params, []);
		return handle(account, id);
	};

/** Invoices name their subscription two levels down, which no plain filter reaches. */
const listInvoices: Resource['handle'] = (account, params, id) => {
	const {subscription, ...rest} = params;
	const kept = [...account.invoices].filter(
		([, {parent}]) => subscription === undefined || parent?.subscription_details?.subscription === String(subscription),
	);
	return list('/v1/invoices', () => new Map(kept), ['customer', 'status'])(account, rest, id);
};

/** Subscriptions that ended are listed only where the query says so. */
const listSubscriptions: Resource['handle'] = (account, params, id) => {
	const shown = [...account.subscriptions].filter(
		([, {status}]) => params['status'] !== undefined || status !== 'canceled',
	);
	return list('/v1/subscriptions', () => new Map(shown), ['customer', 'status'])(account, params, id);
};

const readPrice = (account: Account, id: string): object => {
	if (!account.prices.has(id)) {
		throw noSuch('price', id);
	}

	return known(account.prices, id);
};

/** The calls of contract/billing 15, and the reads that belong to them. */
export const resources: Resource[] = [
	{method: 'POST', path: '/v1/customers', handle: createCustomer},
	{method: 'GET', path: '/v1/customers', handle: list('/v1/customers', ({customers}) => customers, ['email'])},
	{method: 'GET', path: '/v1/customers/:id', handle: read(readCustomer)},
	{method: 'POST', path: '/v1/customers/:id', handle: (account, params, id) => updateCustomer(account, id, params)},
	{method: 'GET', path: '/v1/prices', handle: list('/v1/prices', ({prices}) => prices, [])},
	{method: 'GET', path: '/v1/prices/:id', handle: read(readPrice)},
	{method: 'POST', path: '/v1/checkout/sessions', handle: createSession},
	{
		method: 'GET',
		path: '/v1/checkout/sessions',
		handle: list('/v1/checkout/sessions', ({sessions}) => sessions, ['customer', 'subscription', 'status']),
	},
	{method: 'GET', path: '/v1/checkout/sessions/:id', handle: read(readSession)},
	{
		method: 'POST',
		path: '/v1/checkout/sessions/:id/expire',
		handle: (account, params, id) => {
			allowOnly(params, []);
			return expireSession(account, id);
		},
	},
	{method: 'GET', path: '/v1/subscriptions', handle: listSubscriptions},
	{method: 'GET', path: '/v1/subscriptions/:id', handle: read(readSubscription)},
	{
		method: 'POST',
		path: '/v1/subscriptions/:id',
		handle: (account, params, id) => updateSubscription(account, id, params),
	},
	{
		method: 'DELETE',
		path: '/v1/subscriptions/:id',
		handle: (account, params, id) => cancelSubscription(account, id, params),
	},
	{method: 'POST', path: '/v1/subscription_schedules', handle: createSchedule},
	{
		method: 'GET',
		path: '/v1/subscription_schedules',
		handle: list('/v1/subscription_schedules', ({schedules}) => schedules, ['customer']),
	},
	{method: 'GET', path: '/v1/subscription_schedules/:id', handle: read(readSchedule)},
	{
		method: 'POST',
		path: '/v1/subscription_schedules/:id',
		handle: (account, params, id) => updateSchedule(account, id, params),
	},
	{
		method: 'POST',
		path: '/v1/subscription_schedules/:id/release',
		handle: (account, params, id) => releaseSchedule(account, id, params),
	},
	{method: 'GET', path: '/v1/invoices', handle: listInvoices},
	{method: 'GET', path: '/v1/invoices/:id', handle: read(readInvoice)},
	{method: 'POST', path: '/v1/invoices/:id/pay', handle: (account, params, id) => payInvoice(account, id, params)},
	{
		method: 'GET',
		path: '/v1/invoice_payments',
		handle: list('/v1/invoice_payments', ({payments}) => payments, ['invoice', 'status']),
	},
	{method: 'POST', path: '/v1/refunds', handle: createRefund},
	{
		method: 'GET',
		path: '/v1/refunds',
		handle: list('/v1/refunds', ({refunds}) => refunds, ['payment_intent', 'charge']),
	},
	{method: 'POST', path: '/v1/billing_portal/sessions', handle: createPortal},
];

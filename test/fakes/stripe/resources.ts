import {type Account, found} from './account.ts';
import {createSession, expireSession} from './checkout.ts';
import {createCustomer} from './customers.ts';
import type {Params} from './form.ts';
import {createRefund} from './invoices.ts';
import {LIST_PARAMS, listPage} from './list.ts';
import {allowOnly, textOf} from './params.ts';
import {createPortal} from './portal.ts';
import {createSchedule, releaseSchedule, updateSchedule} from './schedules.ts';
import {cancelSubscription, updateSubscription} from './subscriptions.ts';

export type Handler = (account: Account, params: Params, id: string) => object;
type Objects = (account: Account) => Map<string, {id: string}>;

/** A list of what a map holds, narrowed by members that the query names; `all` narrows nothing. */
const list =
	(path: string, objects: Objects, filters: string[]): Handler =>
	(account, params) => {
		allowOnly(params, [...LIST_PARAMS, ...filters]);
		const wanted = filters
			.map((name): [string, string | null] => [name, textOf(params, name)])
			.filter(([, value]) => value !== null && value !== 'all');
		const matching = [...objects(account).values()].filter((object) =>
			wanted.every(([name, value]) => Reflect.get(object, name) === value),
		);
		return listPage(path, matching, params);
	};

const read =
	(objects: Objects, what: string): Handler =>
	(account, params, id) => {
		allowOnly(params, []);
		return found(objects(account), what, id);
	};

/** Invoices name their subscription two levels down, which no plain filter reaches. */
const listInvoices: Handler = (account, params, id) => {
	const {subscription, ...rest} = params;
	const kept = [...account.invoices].filter(
		([, {parent}]) => subscription === undefined || parent?.subscription_details?.subscription === String(subscription),
	);
	return list('/v1/invoices', () => new Map(kept), ['customer', 'status'])(account, rest, id);
};

/** The calls of contract/billing 15, and the reads that belong to them. */
export const resources: Record<string, Handler> = {
	'POST /v1/customers': createCustomer,
	'GET /v1/customers/:id': read(({customers}) => customers, 'customer'),
	'GET /v1/prices': list('/v1/prices', ({prices}) => prices, []),
	'GET /v1/prices/:id': read(({prices}) => prices, 'price'),
	'POST /v1/checkout/sessions': createSession,
	'GET /v1/checkout/sessions/:id': read(({sessions}) => sessions, 'checkout.session'),
	'POST /v1/checkout/sessions/:id/expire': (account, params, id) => {
		allowOnly(params, []);
		return expireSession(account, id);
	},
	'GET /v1/subscriptions/:id': read(({subscriptions}) => subscriptions, 'subscription'),
	'POST /v1/subscriptions/:id': updateSubscription,
	'DELETE /v1/subscriptions/:id': cancelSubscription,
	'POST /v1/subscription_schedules': createSchedule,
	'GET /v1/subscription_schedules/:id': read(({schedules}) => schedules, 'subscription_schedule'),
	'POST /v1/subscription_schedules/:id': updateSchedule,
	'POST /v1/subscription_schedules/:id/release': releaseSchedule,
	'GET /v1/invoices': listInvoices,
	'GET /v1/invoices/:id': read(({invoices}) => invoices, 'invoice'),
	'GET /v1/invoice_payments': list('/v1/invoice_payments', ({payments}) => payments, ['invoice', 'status']),
	'POST /v1/refunds': createRefund,
	'POST /v1/billing_portal/sessions': createPortal,
};

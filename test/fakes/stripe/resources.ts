import type Stripe from 'stripe';
import {type Account, type Customer, found, named, newId, nulls} from './account.ts';
import {createSession, expireSession} from './checkout.ts';
import type {Params} from './form.ts';
import {createRefund} from './invoices.ts';
import {allowOnly, integerOf, mergeMetadata, requiredText, textOf} from './params.ts';
import {createSchedule, releaseSchedule, updateSchedule} from './schedules.ts';
import {invalidParam, noSuchReference, notAllowed} from './stripe-errors.ts';
import {cancelSubscription, updateSubscription} from './subscriptions.ts';

/** `POST /v1/billing_portal/sessions`. @throws 400 where no configuration was saved in the dashboard. */
const createPortal = (account: Account, params: Params): Stripe.BillingPortal.Session => {
	allowOnly(params, ['customer', 'return_url', 'configuration', 'locale', 'flow_data']);
	const customer = named(account.customers, 'customer', requiredText(params, 'customer'));
	if (!account.settings.hasPortalConfiguration) {
		throw notAllowed(
			'No configuration provided and your test mode default configuration has not been created. Provide a ' +
				'configuration or create your default by saving your customer portal settings in test mode at ' +
				'https://dashboard.stripe.com/test/settings/billing/portal.',
		);
	}

	const id = newId('bps');
	const session: Stripe.BillingPortal.Session = {
		id,
		object: 'billing_portal.session',
		configuration: 'bpc_default',
		created: account.now(),
		customer: customer.id,
		...nulls('customer_account flow locale on_behalf_of'),
		livemode: false,
		return_url: textOf(params, 'return_url'),
		url: `${account.url}/p/session/${id}`,
	};
	account.portals.set(id, session);
	return session;
};

const FIELDS = ['email', 'name', 'phone', 'description', 'metadata', 'address', 'preferred_locales', 'tax_exempt'];

/** `POST /v1/customers`. */
const createCustomer = (account: Account, params: Params): Customer => {
	allowOnly(params, FIELDS);
	const id = newId('cus');
	const customer: Customer = {
		id,
		object: 'customer',
		...nulls('address currency customer_account default_source discount shipping test_clock'),
		balance: 0,
		created: account.now(),
		delinquent: false,
		invoice_prefix: id.slice(-8).toUpperCase(),
		invoice_settings: nulls('custom_fields default_payment_method footer rendering_options'),
		livemode: false,
		metadata: mergeMetadata({}, params),
		next_invoice_sequence: 1,
		preferred_locales: [],
		tax_exempt: 'none',
		email: textOf(params, 'email', 512) || null,
		name: textOf(params, 'name', 256) || null,
		phone: textOf(params, 'phone', 20) || null,
		description: textOf(params, 'description') || null,
	};
	account.customers.set(id, customer);
	account.emit('customer.created', customer);
	return customer;
};

/** Parameters of every list. */
const LIST_PARAMS = ['limit', 'starting_after'];

/** One page of objects, newest first, from a cursor on. */
const listPage = <T extends {id: string}>(url: string, objects: Iterable<T>, params: Params) => {
	const newestFirst = [...objects].reverse();
	const limit = integerOf(params, 'limit') ?? 10;
	if (limit < 1 || limit > 100) {
		throw invalidParam('limit', 'Invalid integer: limit must be between 1 and 100', 'parameter_invalid_integer');
	}

	const after = textOf(params, 'starting_after');
	const index = newestFirst.findIndex(({id}) => id === after);
	if (after !== null && index < 0) {
		throw noSuchReference('object', after, 'starting_after');
	}

	const rest = newestFirst.slice(index + 1);
	return {object: 'list', url, has_more: rest.length > limit, data: rest.slice(0, limit)};
};

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

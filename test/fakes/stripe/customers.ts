import {type Account, type Customer, newId} from './account.ts';
import type {Params} from './form.ts';
import {allowOnly, mergeMetadata, textOf} from './params.ts';
import {noSuch, noSuchReference} from './stripe-errors.ts';

const FIELDS = ['email', 'name', 'phone', 'description', 'metadata', 'address', 'preferred_locales', 'tax_exempt'];

const textsOf = (params: Params): Pick<Customer, 'email' | 'name' | 'phone' | 'description'> => {
	const read = (name: string, limit?: number): string | null => textOf(params, name, limit) || null;
	return {
		email: read('email', 512),
		name: read('name', 256),
		phone: read('phone', 20),
		description: read('description'),
	};
};

export const createCustomer = (account: Account, params: Params): Customer => {
	allowOnly(params, FIELDS);
	const id = newId('cus');
	const customer: Customer = {
		id,
		object: 'customer',
		address: null,
		balance: 0,
		created: account.now(),
		currency: null,
		customer_account: null,
		default_source: null,
		delinquent: false,
		discount: null,
		invoice_prefix: id.slice(-8).toUpperCase(),
		invoice_settings: {
			custom_fields: null,
			default_payment_method: null,
			footer: null,
			rendering_options: null,
		},
		livemode: false,
		metadata: mergeMetadata({}, params),
		next_invoice_sequence: 1,
		preferred_locales: [],
		shipping: null,
		tax_exempt: 'none',
		test_clock: null,
		...textsOf(params),
	};
	account.customers.set(id, customer);
	account.emit('customer.created', customer);
	return customer;
};

export const readCustomer = (account: Account, id: string): Customer => {
	const customer = account.customers.get(id);
	if (customer === undefined) {
		throw noSuch('customer', id);
	}

	return customer;
};

/** The customer that a body names. @throws 400 where there is none. */
export const customerNamed = (account: Account, id: string): Customer => {
	const customer = account.customers.get(id);
	if (customer === undefined) {
		throw noSuchReference('customer', id, 'customer');
	}

	return customer;
};

export const updateCustomer = (account: Account, id: string, params: Params): Customer => {
	const customer = readCustomer(account, id);
	allowOnly(params, FIELDS);
	const given = Object.entries(textsOf(params)).filter(([name]) => params[name] !== undefined);
	const changes = {...Object.fromEntries(given), metadata: mergeMetadata(customer.metadata, params)};
	const previous = Object.fromEntries(Object.keys(changes).map((name) => [name, Reflect.get(customer, name)]));
	Object.assign(customer, changes);
	account.emit('customer.updated', customer, previous);
	return customer;
};

import {type Account, type Customer, newId, nulls} from './account.ts';
import type {Params} from './form.ts';
import {allowOnly, mergeMetadata, textOf} from './params.ts';

const FIELDS = ['email', 'name', 'phone', 'description', 'metadata', 'address', 'preferred_locales', 'tax_exempt'];

/** `POST /v1/customers`. */
export const createCustomer = (account: Account, params: Params): Customer => {
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

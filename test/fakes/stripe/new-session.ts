import {type Account, known, newId, type Order, type Session} from './account.ts';
import {amountOf} from './new-price.ts';
import {noTax} from './new-subscription.ts';

export type SessionInput = {
	customer: string;
	order: Order;
	clientReferenceId: string | null;
	metadata: Record<string, string>;
	successUrl: string;
	cancelUrl: string | null;
	expiresAt: number;
};

/** A checkout that waits for its customer. It is stored, with what it shall make. */
export const newSession = (account: Account, input: SessionInput): Session => {
	const id = newId('cs_test');
	const price = known(account.prices, input.order.price);
	const amount = amountOf(price, input.order.quantity);
	const {email, name} = known(account.customers, input.customer);
	const session: Session = {
		id,
		object: 'checkout.session',
		adaptive_pricing: {enabled: false},
		after_expiration: null,
		allow_promotion_codes: null,
		allowed_payment_method_types: null,
		amount_subtotal: amount,
		amount_total: amount,
		automatic_tax: noTax,
		billing_address_collection: null,
		cancel_url: input.cancelUrl,
		client_reference_id: input.clientReferenceId,
		client_secret: null,
		collected_information: null,
		consent: null,
		consent_collection: null,
		created: account.now(),
		currency: price.currency,
		currency_conversion: null,
		custom_fields: [],
		custom_text: {after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null},
		customer: input.customer,
		customer_account: null,
		customer_creation: null,
		customer_details: {
			address: null,
			business_name: null,
			email,
			individual_name: null,
			name: name ?? null,
			phone: null,
			tax_exempt: 'none',
			tax_ids: null,
		},
		customer_email: null,
		discounts: [],
		expires_at: input.expiresAt,
		integration_identifier: null,
		invoice: null,
		invoice_creation: null,
		livemode: false,
		locale: null,
		managed_payments: {enabled: false},
		metadata: input.metadata,
		mode: 'subscription',
		origin_context: null,
		payment_intent: null,
		payment_link: null,
		payment_method_collection: 'always',
		payment_method_configuration_details: null,
		payment_method_options: null,
		payment_method_types: ['card'],
		payment_status: 'unpaid',
		permissions: null,
		recovered_from: null,
		saved_payment_method_options: {
			allow_redisplay_filters: ['always'],
			payment_method_remove: 'disabled',
			payment_method_save: null,
		},
		setup_intent: null,
		shipping_address_collection: null,
		shipping_cost: null,
		shipping_options: [],
		status: 'open',
		submit_type: null,
		subscription: null,
		success_url: input.successUrl,
		total_details: {amount_discount: 0, amount_shipping: 0, amount_tax: 0},
		ui_mode: 'hosted_page',
		url: `${account.url}/c/pay/${id}`,
		wallet_options: null,
	};
	account.sessions.set(id, session);
	account.orders.set(id, input.order);
	return session;
};

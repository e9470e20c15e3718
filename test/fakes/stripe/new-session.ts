import {type Account, known, newId, nulls, type Order, type Session} from './account.ts';
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
		...nulls('after_expiration allow_promotion_codes allowed_payment_method_types billing_address_collection'),
		...nulls('client_secret collected_information consent consent_collection currency_conversion customer_account'),
		...nulls('customer_creation customer_email integration_identifier invoice invoice_creation locale'),
		...nulls('origin_context payment_intent payment_link payment_method_configuration_details'),
		...nulls('payment_method_options permissions recovered_from setup_intent shipping_address_collection'),
		...nulls('shipping_cost submit_type subscription wallet_options'),
		amount_subtotal: amount,
		amount_total: amount,
		automatic_tax: noTax,
		cancel_url: input.cancelUrl,
		client_reference_id: input.clientReferenceId,
		created: account.now(),
		currency: price.currency,
		custom_fields: [],
		custom_text: nulls('after_submit shipping_address submit terms_of_service_acceptance'),
		customer: input.customer,
		customer_details: {
			...nulls('address business_name individual_name phone tax_ids'),
			email,
			name: name ?? null,
			tax_exempt: 'none',
		},
		discounts: [],
		expires_at: input.expiresAt,
		livemode: false,
		managed_payments: {enabled: false},
		metadata: input.metadata,
		mode: 'subscription',
		payment_method_collection: 'always',
		payment_method_types: ['card'],
		payment_status: 'unpaid',
		saved_payment_method_options: {
			allow_redisplay_filters: ['always'],
			payment_method_remove: 'disabled',
			payment_method_save: null,
		},
		shipping_options: [],
		status: 'open',
		success_url: input.successUrl,
		total_details: {amount_discount: 0, amount_shipping: 0, amount_tax: 0},
		ui_mode: 'hosted_page',
		url: `${account.url}/c/pay/${id}`,
	};
	account.sessions.set(id, session);
	account.orders.set(id, input.order);
	return session;
};

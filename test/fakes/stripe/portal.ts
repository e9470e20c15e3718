import type Stripe from 'stripe';
import {type Account, named, newId, nulls} from './account.ts';
import type {Params} from './form.ts';
import {allowOnly, requiredText, textOf} from './params.ts';
import {notAllowed} from './stripe-errors.ts';

/** `POST /v1/billing_portal/sessions`. @throws 400 where no configuration was saved in the dashboard. */
export const createPortal = (account: Account, params: Params): Stripe.BillingPortal.Session => {
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

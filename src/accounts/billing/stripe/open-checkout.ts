import {createHash} from 'node:crypto';
import type Stripe from 'stripe';
import {gatewayFailed, required} from '../../../platform/errors.ts';
import type {BillingAttempt} from '../attempt-store.ts';
import type {Checkout, Payer} from '../gateway.ts';
import {call} from './stripe-client.ts';

/**
 * The organization's customer, created on the first checkout. The idempotency key lets a retry find the customer of a
 * lost answer. It depends on the parameters, because Stripe refuses a known key with others.
 */
const customerOf = async (stripe: Stripe, {customerId, organizationId, name, email}: Payer): Promise<string> => {
	if (customerId !== null) {
		return customerId;
	}

	const version = createHash('sha256').update(`${name}\n${email}`).digest('hex').slice(0, 16);
	const customer = await call(
		stripe.customers.create(
			{name, ...(email === null ? {} : {email}), metadata: {orgId: organizationId}},
			{idempotencyKey: `cus:${organizationId}:${version}`},
		),
	);
	return customer.id;
};

/** The Stripe price of an attempt. @throws 502 if the plans file has none. */
export const priceOf = ({priceId, plan}: Pick<BillingAttempt, 'priceId' | 'plan'>): string =>
	required(priceId, () => gatewayFailed(new Error(`the plan ${plan} has no stripePrice`)));

/** The braces are Stripe's placeholder, which must not be escaped. */
const successUrl = (returnUrl: string): string =>
	`${returnUrl}${returnUrl.includes('?') ? '&' : '?'}session_id={CHECKOUT_SESSION_ID}`;

/** Opens a hosted checkout that creates a subscription. @throws 502. */
export const openStripeCheckout = async (
	{stripe, returnUrl}: {stripe: Stripe; returnUrl: string},
	attempt: BillingAttempt,
	payer: Payer,
): Promise<Checkout> => {
	const price = priceOf(attempt);
	const customer = await customerOf(stripe, payer);
	// The session's metadata is not copied to its subscription, whose events count (contract/billing 15).
	const metadata = {orgId: payer.organizationId, attemptId: attempt.id, plan: attempt.plan};
	const session = await call(
		stripe.checkout.sessions.create(
			{
				mode: 'subscription',
				customer,
				line_items: [{price, quantity: 1}],
				client_reference_id: attempt.id,
				metadata,
				subscription_data: {metadata},
				success_url: successUrl(returnUrl),
				cancel_url: returnUrl,
			},
			{idempotencyKey: `cs:${attempt.id}`},
		),
	);
	return {url: session.url ?? returnUrl, sessionId: session.id, ref: session.id, intention: null, customerId: customer};
};

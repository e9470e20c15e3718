import {createHmac} from 'node:crypto';
import type {Clock} from '../../../src/platform/clock.ts';
import {createWebhookQueue, type WebhookEvent} from '../shared/webhook-queue.ts';
import {API_VERSION, newId, type RequestSource} from './account.ts';

export type StripeEvent = WebhookEvent & {
	/** The object as it was when it happened. */
	object: {id: string};
};

/** The types that the endpoint receives (contract/billing 18); the fake creates more, as the real one does. */
export const ENABLED_EVENTS = [
	'checkout.session.completed',
	'checkout.session.expired',
	'checkout.session.async_payment_succeeded',
	'checkout.session.async_payment_failed',
	'customer.subscription.created',
	'customer.subscription.updated',
	'customer.subscription.deleted',
	'invoice.paid',
	'invoice.payment_failed',
	'invoice.payment_action_required',
];

/** The header over `${t}.${body}` (contract/billing 17). The key is the whole secret, `whsec_` included. */
export const signatureHeader = (body: string, secret: string, at: Date): string => {
	const t = Math.floor(at.getTime() / 1000);
	return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};

/** An event about an object as it is now. */
export const newEvent = (
	type: string,
	object: {id: string},
	{created, request, previous}: {created: number; request: RequestSource; previous?: object | undefined},
): StripeEvent => {
	const id = newId('evt');
	const snapshot = structuredClone(object);
	const body = JSON.stringify({
		id,
		object: 'event',
		api_version: API_VERSION,
		created,
		data: {object: snapshot, ...(previous === undefined ? {} : {previous_attributes: previous})},
		livemode: false,
		pending_webhooks: 1,
		request,
		type,
	});
	return {id, type, body, object: snapshot};
};

/** The endpoint's queue of events. */
export const createEvents = (clock: Clock, secret: string) =>
	createWebhookQueue<StripeEvent>('/webhook/gateway-a', ({body}, options = {}) => ({
		headers: {
			'stripe-signature': signatureHeader(body, options.secret ?? secret, options.at ?? clock.now()),
			'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
		},
	}));

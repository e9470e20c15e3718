import Joi from 'joi';
import {invalidWebhookSignature} from '../../platform/errors.ts';
import {receivedAnswer} from '../../platform/http/answer.ts';
import {route} from '../route.ts';
import {receivePaymobCallback} from './paymob/receive-callback.ts';
import {receiveStripeEvent} from './stripe/receive-event.ts';

const received = {received: true};

const headerText = (value: string | string[] | undefined): string | undefined =>
	typeof value === 'string' ? value : undefined;

/** Anything is accepted here; an invalid HMAC is refused like a wrong one. */
const hmacQuery = Joi.object<{hmac?: unknown}>({hmac: Joi.any()});

export const gatewayWebhookRoutes = [
	route({
		method: 'POST',
		path: '/webhook/gateway-a',
		summary: 'Receive an event of Stripe',
		signature: 'gatewayASignature',
		answer: receivedAnswer,
		credential: 'signature',
		handler: async ({services, request, rawBody}) => {
			const {stripe} = services;
			// Without Stripe no signature can be verified.
			if (stripe === null) {
				throw invalidWebhookSignature();
			}

			const signature = headerText(request.headers['stripe-signature']);
			await receiveStripeEvent({...services, stripe}, {rawBody, signature});
			return received;
		},
	}),

	route({
		method: 'POST',
		path: '/webhook/gateway-b',
		summary: 'Receive a callback of Paymob',
		signature: 'gatewayBSignature',
		answer: receivedAnswer,
		credential: 'signature',
		query: hmacQuery,
		handler: async ({services, rawBody, query}) => {
			await receivePaymobCallback(services, {rawBody, query});
			return received;
		},
	}),
];

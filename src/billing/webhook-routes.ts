import {invalidWebhookSignature} from '../errors.ts';
import {route} from '../http/route.ts';
import {receiveStripeEvent} from './stripe/receive-event.ts';

/** Answers of receivers are for machines that look at the status alone. */
const received = {received: true};

const headerText = (value: string | string[] | undefined): string | undefined =>
	typeof value === 'string' ? value : undefined;

export const gatewayWebhookRoutes = [
	route({
		method: 'POST',
		path: '/webhook/gateway-a',
		credential: 'signature',
		handler: async ({services, request, rawBody}) => {
			const {stripe} = services;
			// Without the gateway nothing can be verified.
			if (stripe === null) {
				throw invalidWebhookSignature();
			}

			const signature = headerText(request.headers['stripe-signature']);
			await receiveStripeEvent({services, stripe}, {rawBody, signature});
			return received;
		},
	}),
];

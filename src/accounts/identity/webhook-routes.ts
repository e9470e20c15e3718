import {receivedAnswer} from '../../platform/http/answer.ts';
import {limits} from '../../platform/limits/limits.ts';
import {route} from '../auth/route.ts';
import {receiveDelivery} from './receive-delivery.ts';
import {verifyDelivery} from './webhook-signature.ts';

export const identityWebhookRoutes = [
	route({
		method: 'POST',
		path: '/webhooks/idp',
		summary: 'Receive an event of the identity provider',
		signature: 'identityProviderSignature',
		headers: {'svix-id': 'Id of the delivery.', 'svix-timestamp': 'When it was signed, in seconds.'},
		answer: receivedAnswer,
		credential: 'signature',
		limit: limits.webhooks,
		handler: async ({services, by, request: {headers}, rawBody}) => {
			const secret = services.config.idp.webhookSecret;
			const delivery = verifyDelivery({secret, rawBody, headers, now: services.clock.now()});
			services.metrics.webhook('identity', delivery.at);
			await receiveDelivery(services, by, delivery);
			return {received: true};
		},
	}),
];

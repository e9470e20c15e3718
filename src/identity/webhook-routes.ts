import {route} from '../http/route.ts';
import {receiveDelivery} from './receive-delivery.ts';
import {verifyDelivery} from './webhook-signature.ts';

export const identityWebhookRoutes = [
	route({
		method: 'POST',
		path: '/webhooks/idp',
		credential: 'signature',
		handler: async ({services, by, request: {headers}, rawBody}) => {
			const secret = services.config.idp.webhookSecret;
			const delivery = verifyDelivery({secret, rawBody, headers, now: services.clock.now()});
			await receiveDelivery(services, by, delivery);
			return {received: true};
		},
	}),
];

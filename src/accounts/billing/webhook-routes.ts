import Joi from 'joi';
import {invalidWebhookSignature} from '../../platform/errors.ts';
import {receivedAnswer} from '../../platform/http/answer.ts';
import {limits} from '../../platform/limits/limits.ts';
import type {Services} from '../../services.ts';
import {route} from '../auth/route.ts';
import type {GatewayRequest} from './gateway.ts';
import type {GatewayName} from './subscription.ts';

const received = {received: true};

/** Anything is accepted here; an invalid HMAC is refused like a wrong one. */
const hmacQuery = Joi.object<{hmac?: unknown}>({hmac: Joi.any()});

/** @throws 400 for an invalid signature; without the gateway none can be verified. */
const receive = async (services: Services, name: GatewayName, request: GatewayRequest): Promise<typeof received> => {
	const gateway = services.gateways[name];
	if (gateway === null) {
		throw invalidWebhookSignature();
	}

	await gateway.receive(services, request);
	return received;
};

export const gatewayWebhookRoutes = [
	route({
		method: 'POST',
		path: '/webhook/gateway-a',
		summary: 'Receive an event of gateway A',
		signature: 'gatewayASignature',
		answer: receivedAnswer,
		credential: 'signature',
		limit: limits.webhooks,
		handler: ({services, request: {headers}, rawBody}) => receive(services, 'GATEWAY_A', {rawBody, headers, query: {}}),
	}),

	route({
		method: 'POST',
		path: '/webhook/gateway-b',
		summary: 'Receive a callback of gateway B',
		signature: 'gatewayBSignature',
		answer: receivedAnswer,
		credential: 'signature',
		limit: limits.webhooks,
		query: hmacQuery,
		handler: ({services, request: {headers}, rawBody, query}) =>
			receive(services, 'GATEWAY_B', {rawBody, headers, query}),
	}),
];

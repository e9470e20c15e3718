import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {invalidWebhookSignature} from '../../platform/errors.ts';
import {pageOf, receivedAnswer} from '../../platform/http/answer.ts';
import {idParams, pageQuery} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {route} from '../auth/route.ts';
import {organizationReference, requireOrganization} from '../organizations/require-organization.ts';
import {gatewayEventAnswer} from './billing-answers.ts';
import type {GatewayRequest} from './gateway.ts';
import {createGatewayEventStore, type EventOutcome, gatewayEventJson} from './gateway-event-store.ts';
import {replayEvent, requireEvent} from './replay-events.ts';
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

export const gatewayEventRoutes = [
	route('POST', '/webhook/gateway-a', {
		summary: 'Receive an event of gateway A',
		signature: 'gatewayASignature',
		answer: receivedAnswer,
		credential: 'signature',
		limit: limits.webhooks,
		handler: ({services, request: {headers}, rawBody}) => receive(services, 'GATEWAY_A', {rawBody, headers, query: {}}),
	}),

	route('POST', '/webhook/gateway-b', {
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

type EventQuery = PageQuery & {gateway?: GatewayName; outcome?: EventOutcome; orgId?: string};

const eventQuery = Joi.object<EventQuery>({
	...pageQuery,
	gateway: Joi.valid('GATEWAY_A', 'GATEWAY_B'),
	outcome: Joi.valid('APPLIED', 'IGNORED', 'UNMATCHED', 'REVIEW'),
	orgId: organizationReference,
});

export const gatewayEventAdminRoutes = [
	route('GET', '/admin/billing/events', {
		summary: 'List gateway events, newest first',
		answer: pageOf(gatewayEventAnswer),
		credential: 'admin',
		query: eventQuery,
		handler: async ({services, query: {orgId, ...query}}) => {
			const organization = orgId === undefined ? null : await requireOrganization(services, orgId);
			const found = await createGatewayEventStore(services.db).list({
				...query,
				...(organization === null ? {} : {organizationId: organization.id}),
			});
			return {...found, data: found.data.map(gatewayEventJson)};
		},
	}),

	route('GET', '/admin/billing/events/:id', {
		summary: 'Get a gateway event',
		answer: gatewayEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => gatewayEventJson(await requireEvent(services, params.id)),
	}),

	route('POST', '/admin/billing/events/:id/replay', {
		summary: 'Replay a gateway event',
		refusals: [409, 502],
		answer: gatewayEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => gatewayEventJson(await replayEvent(services, params.id)),
	}),
];

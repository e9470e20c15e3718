import Joi from 'joi';
import {route} from '../http/route.ts';
import {idParams, type PageQuery, pageQuery} from '../http/validate.ts';
import type {GatewayName} from './gateway.ts';
import {createGatewayEventStore, type EventOutcome, gatewayEventJson} from './gateway-event-store.ts';
import {requireEvent} from './ledger.ts';
import {reapply} from './receivers.ts';

type EventQuery = PageQuery & {gateway?: GatewayName; outcome?: EventOutcome; organizationId?: string};

const eventQuery = Joi.object<EventQuery>({
	...pageQuery,
	gateway: Joi.valid('GATEWAY_A', 'GATEWAY_B'),
	outcome: Joi.valid('APPLIED', 'IGNORED', 'UNMATCHED', 'REVIEW'),
	organizationId: Joi.string().guid({separator: '-'}),
});

export const billingEventRoutes = [
	route({
		method: 'GET',
		path: '/admin/billing/events',
		credential: 'admin',
		query: eventQuery,
		handler: async ({services, query}) => {
			const found = await createGatewayEventStore(services.db).list(query);
			return {...found, data: found.data.map(gatewayEventJson)};
		},
	}),

	route({
		method: 'GET',
		path: '/admin/billing/events/:id',
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => gatewayEventJson(await requireEvent(services, params.id)),
	}),

	route({
		method: 'POST',
		path: '/admin/billing/events/:id/replay',
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) =>
			gatewayEventJson(await reapply(services, await requireEvent(services, params.id))),
	}),
];

import Joi from 'joi';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuery} from '../../platform/http/validate.ts';
import {route} from '../auth/route.ts';
import {organizationReference, requireOrganization} from '../organizations/require-organization.ts';
import {gatewayEventAnswer} from './billing-answers.ts';
import {createGatewayEventStore, type EventOutcome, gatewayEventJson} from './gateway-event-store.ts';
import {replayEvent, requireEvent} from './replay-events.ts';
import type {GatewayName} from './subscription.ts';

type EventQuery = PageQuery & {gateway?: GatewayName; outcome?: EventOutcome; orgId?: string};

const eventQuery = Joi.object<EventQuery>({
	...pageQuery,
	gateway: Joi.valid('GATEWAY_A', 'GATEWAY_B'),
	outcome: Joi.valid('APPLIED', 'IGNORED', 'UNMATCHED', 'REVIEW'),
	orgId: organizationReference,
});

export const billingEventRoutes = [
	route({
		method: 'GET',
		path: '/admin/billing/events',
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

	route({
		method: 'GET',
		path: '/admin/billing/events/:id',
		summary: 'Get a gateway event',
		answer: gatewayEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => gatewayEventJson(await requireEvent(services, params.id)),
	}),

	route({
		method: 'POST',
		path: '/admin/billing/events/:id/replay',
		summary: 'Replay a gateway event',
		refusals: [409, 502],
		answer: gatewayEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => gatewayEventJson(await replayEvent(services, params.id)),
	}),
];

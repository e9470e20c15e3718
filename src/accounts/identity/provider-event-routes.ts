import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {answerOf, count, instant, pageOf, receivedAnswer, text, uuid} from '../../platform/http/answer.ts';
import {idParams, pageQuery} from '../../platform/http/validate.ts';
import {route} from '../auth/route.ts';
import {createProviderEventStore, type ProviderEventOutcome, providerEventJson} from './provider-event-store.ts';
import {receiveProviderEvent, replayProviderEvent, requireProviderEvent} from './receive-provider-event.ts';
import {verifyProviderEvent} from './verify-provider-event.ts';

const outcome = Joi.valid('APPLIED', 'IGNORED', 'FAILED');

const eventQuery = Joi.object<PageQuery & {outcome?: ProviderEventOutcome}>({
	...pageQuery,
	outcome,
});

/** An event of the identity provider, as the operator reads the ledger. */
const providerEventAnswer = answerOf('IdentityEvent', {
	id: uuid,
	eventKey: text,
	type: text,
	outcome,
	reason: text,
	deliveries: count,
	receivedAt: instant,
	processedAt: instant,
});

export const providerEventRoutes = [
	route('POST', '/webhooks/idp', {
		summary: 'Receive an event of the identity provider',
		signature: 'identityProviderSignature',
		headers: {'svix-id': 'Id of the delivery.', 'svix-timestamp': 'When it was signed, in seconds.'},
		answer: receivedAnswer,
		credential: 'signature',
		limit: limits.webhooks,
		handler: async ({services, by, request: {headers}, rawBody}) => {
			const secret = services.config.idp.webhookSecret;
			const event = verifyProviderEvent({secret, rawBody, headers, now: services.clock.now()});
			services.metrics.webhook('identity', event.at);
			await receiveProviderEvent(services, by, event);
			return {received: true};
		},
	}),
];

export const providerEventAdminRoutes = [
	route('GET', '/admin/webhooks/events', {
		summary: 'List events of the identity provider, newest first',
		answer: pageOf(providerEventAnswer),
		credential: 'admin',
		query: eventQuery,
		handler: ({services, query}) => createProviderEventStore(services.db).list(query),
	}),

	route('GET', '/admin/webhooks/events/:id', {
		summary: 'Get an event of the identity provider',
		answer: providerEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => providerEventJson(await requireProviderEvent(services, params.id)),
	}),

	route('POST', '/admin/webhooks/events/:id/replay', {
		summary: 'Replay an event of the identity provider',
		refusals: [409, 502],
		answer: providerEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, by, params}) => providerEventJson(await replayProviderEvent(services, by, params.id)),
	}),
];

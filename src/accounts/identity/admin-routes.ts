import Joi from 'joi';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {answerOf, count, instant, pageOf, text, uuid} from '../../platform/http/answer.ts';
import {idParams, pageQuery} from '../../platform/http/validate.ts';
import {route} from '../auth/route.ts';
import {createIdentityEventStore, type IdentityOutcome} from './identity-event-store.ts';
import {replayIdentityEvent, requireIdentityEvent} from './receive-delivery.ts';

const outcome = Joi.valid('APPLIED', 'IGNORED', 'FAILED');

const eventQuery = Joi.object<PageQuery & {outcome?: IdentityOutcome}>({
	...pageQuery,
	outcome,
});

/** An event of the identity provider, as the operator reads the ledger. */
const identityEventAnswer = answerOf('IdentityEvent', {
	id: uuid,
	eventKey: text,
	type: text,
	outcome: outcome,
	reason: text,
	deliveries: count,
	receivedAt: instant,
	processedAt: instant,
});

export const identityEventRoutes = [
	route({
		method: 'GET',
		path: '/admin/webhooks/events',
		summary: 'List events of the identity provider, newest first',
		answer: pageOf(identityEventAnswer),
		credential: 'admin',
		query: eventQuery,
		handler: ({services, query}) => createIdentityEventStore(services.db).list(query),
	}),

	route({
		method: 'GET',
		path: '/admin/webhooks/events/:id',
		summary: 'Get an event of the identity provider',
		answer: identityEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params}) => (await requireIdentityEvent(services, params.id)).json,
	}),

	route({
		method: 'POST',
		path: '/admin/webhooks/events/:id/replay',
		summary: 'Replay an event of the identity provider',
		refusals: [409, 502],
		answer: identityEventAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, by, params}) => (await replayIdentityEvent(services, by, params.id)).json,
	}),
];

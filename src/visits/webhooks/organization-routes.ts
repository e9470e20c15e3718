import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {endpointNotFound, required} from '../../platform/errors.ts';
import {
	answerOf,
	count,
	deletedAnswer,
	flag,
	instant,
	instantOrNull,
	pageOf,
	partOf,
	text,
	textOrNull,
	uuid,
} from '../../platform/http/answer.ts';
import {idParams, isoDateTime, pageQuerySchema, uuidField} from '../../platform/http/validate.ts';
import type {DeliveryStatus} from './delivery-store.ts';
import {endpointAnswer, endpointChanges, endpointWithSecretAnswer, newEndpoint} from './endpoint.ts';
import {
	createEndpoint,
	deleteEndpoint,
	deliveriesOfEndpoint,
	replayDelivery,
	replaySince,
	rotateSecret,
	testEndpoint,
	updateEndpoint,
} from './endpoint-operations.ts';
import {createEndpointStore} from './endpoint-store.ts';

const PATH = '/webhook-endpoints';

const tried = {
	at: instant,
	status: count.allow(null),
	durationMs: count,
	error: textOrNull,
	answer: textOrNull,
};

const deliveryStatus = Joi.valid('PENDING', 'DELIVERED', 'FAILED');

/** A delivery with each attempt (contract/webhooks 5). */
const deliveryAnswer = answerOf('WebhookDelivery', {
	id: uuid,
	type: text,
	at: instant,
	createdAt: instant,
	status: deliveryStatus,
	nextTryAt: instantOrNull,
	tries: Joi.array().items(partOf(tried)),
});

const testAnswer = answerOf('WebhookTest', {deliveryId: uuid, ok: flag, ...tried});
const replayAnswer = answerOf('WebhookReplay', {replayed: count});

const deliveryParams = idParams.concat(Joi.object({deliveryId: uuidField.required()})) as Joi.ObjectSchema<{
	id: string;
	deliveryId: string;
}>;

const deliveriesQuery = (pageQuerySchema as Joi.ObjectSchema).concat(
	Joi.object({status: deliveryStatus}),
) as Joi.ObjectSchema<{page: number; limit: number; status?: DeliveryStatus}>;

const sinceBody = Joi.object<{since: Date}>({since: isoDateTime().required()});

const shared = {role: 'admin', params: idParams} as const;

export const webhookEndpointRoutes = [
	organizationRoute({
		method: 'GET',
		path: PATH,
		summary: 'List webhook endpoints, newest first',
		answer: pageOf(endpointAnswer),
		role: 'admin',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createEndpointStore(services.db, organization.id).list(query),
	}),

	organizationRoute({
		method: 'POST',
		path: PATH,
		summary: 'Create a webhook endpoint',
		refusals: [409],
		answer: endpointWithSecretAnswer,
		role: 'admin',
		body: newEndpoint,
		status: 201,
		handler: ({services, organization, by, body}) => createEndpoint(services, {organization, by, fields: body}),
	}),

	organizationRoute({
		...shared,
		method: 'GET',
		path: `${PATH}/:id`,
		summary: 'Get a webhook endpoint',
		answer: endpointAnswer,
		handler: async ({services, organization, params: {id}}) =>
			required(await createEndpointStore(services.db, organization.id).find(id), endpointNotFound),
	}),

	organizationRoute({
		...shared,
		method: 'PATCH',
		path: `${PATH}/:id`,
		summary: 'Change a webhook endpoint',
		answer: endpointAnswer,
		body: endpointChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			updateEndpoint(services, {organization, by, id, changes: body}),
	}),

	organizationRoute({
		...shared,
		method: 'DELETE',
		path: `${PATH}/:id`,
		summary: 'Delete a webhook endpoint with its deliveries',
		answer: deletedAnswer,
		handler: ({services, organization, by, params: {id}}) => deleteEndpoint(services, {organization, by, id}),
	}),

	organizationRoute({
		...shared,
		method: 'POST',
		path: `${PATH}/:id/rotate`,
		summary: 'Replace the secret of a webhook endpoint; the one before signs, too, for 24 hours',
		answer: endpointWithSecretAnswer,
		handler: ({services, organization, by, params: {id}}) => rotateSecret(services, {organization, by, id}),
	}),

	organizationRoute({
		...shared,
		method: 'POST',
		path: `${PATH}/:id/test`,
		summary: 'Send a test to a webhook endpoint and say what came back',
		answer: testAnswer,
		handler: ({services, organization, params: {id}}) => testEndpoint(services, {organization, id}),
	}),

	organizationRoute({
		...shared,
		method: 'GET',
		path: `${PATH}/:id/deliveries`,
		summary: 'List the deliveries of a webhook endpoint of 30 days with each attempt, newest first',
		answer: pageOf(deliveryAnswer),
		query: deliveriesQuery,
		handler: async ({services, organization, params: {id}, query}) =>
			(await deliveriesOfEndpoint(services, organization.id, id)).list(query),
	}),

	organizationRoute({
		...shared,
		method: 'POST',
		path: `${PATH}/:id/deliveries/:deliveryId/replay`,
		summary: 'Send a delivery again',
		refusals: [409],
		answer: replayAnswer,
		params: deliveryParams,
		handler: ({services, organization, params}) => replayDelivery(services, {organization, ...params}),
	}),

	organizationRoute({
		...shared,
		method: 'POST',
		path: `${PATH}/:id/replay`,
		summary: 'Send all deliveries again that happened since a time',
		answer: replayAnswer,
		body: sinceBody,
		handler: ({services, organization, params: {id}, body}) =>
			replaySince(services, {organization, id, since: body.since}),
	}),
].flat();

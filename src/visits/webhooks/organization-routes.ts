import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {endpointNotFound, required} from '../../platform/errors.ts';
import {answerOf, count, deletedAnswer, flag, pageOf, uuid} from '../../platform/http/answer.ts';
import {idParams, isoDateTime, pageQuery, pageQuerySchema, uuidParam} from '../../platform/http/validate.ts';
import {attemptFields, type DeliveryQuery, deliveryAnswer, deliveryStatus} from './delivery-store.ts';
import {
	createEndpointStore,
	endpointAnswer,
	endpointChanges,
	endpointWithSecretAnswer,
	newEndpoint,
} from './endpoint.ts';
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

const PATH = '/webhook-endpoints';

const testAnswer = answerOf('WebhookTest', {deliveryId: uuid, ok: flag, ...attemptFields});
const replayAnswer = answerOf('WebhookReplay', {replayed: count});

const deliveryParams = Joi.object<{id: string; deliveryId: string}>({id: uuidParam, deliveryId: uuidParam});

const deliveriesQuery = Joi.object<DeliveryQuery>({...pageQuery, status: deliveryStatus});

const sinceBody = Joi.object<{since: Date}>({since: isoDateTime().required()});

const shared = {role: 'admin', params: idParams} as const;

export const webhookEndpointRoutes = [
	organizationRoute('GET', PATH, {
		summary: 'List webhook endpoints, newest first',
		answer: pageOf(endpointAnswer),
		role: 'admin',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createEndpointStore(services.db, organization.id).list(query),
	}),

	organizationRoute('POST', PATH, {
		summary: 'Create a webhook endpoint',
		refusals: [409],
		answer: endpointWithSecretAnswer,
		role: 'admin',
		body: newEndpoint,
		status: 201,
		handler: ({services, organization, by, body}) => createEndpoint(services, {organization, by, fields: body}),
	}),

	organizationRoute('GET', `${PATH}/:id`, {
		...shared,
		summary: 'Get a webhook endpoint',
		answer: endpointAnswer,
		handler: async ({services, organization, params: {id}}) =>
			required(await createEndpointStore(services.db, organization.id).find(id), endpointNotFound),
	}),

	organizationRoute('PATCH', `${PATH}/:id`, {
		...shared,
		summary: 'Change a webhook endpoint',
		answer: endpointAnswer,
		body: endpointChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			updateEndpoint(services, {organization, by, id, changes: body}),
	}),

	organizationRoute('DELETE', `${PATH}/:id`, {
		...shared,
		summary: 'Delete a webhook endpoint with its deliveries',
		answer: deletedAnswer,
		handler: ({services, organization, by, params: {id}}) => deleteEndpoint(services, {organization, by, id}),
	}),

	organizationRoute('POST', `${PATH}/:id/rotate`, {
		...shared,
		summary: 'Replace the secret of a webhook endpoint; the one before signs, too, for 24 hours',
		answer: endpointWithSecretAnswer,
		handler: ({services, organization, by, params: {id}}) => rotateSecret(services, {organization, by, id}),
	}),

	organizationRoute('POST', `${PATH}/:id/test`, {
		...shared,
		summary: 'Send a test to a webhook endpoint and say what came back',
		answer: testAnswer,
		handler: ({services, organization, params: {id}}) => testEndpoint(services, {organization, id}),
	}),

	organizationRoute('GET', `${PATH}/:id/deliveries`, {
		...shared,
		summary: 'List the deliveries of a webhook endpoint of 30 days with each attempt, newest first',
		answer: pageOf(deliveryAnswer),
		query: deliveriesQuery,
		handler: async ({services, organization, params: {id}, query}) =>
			(await deliveriesOfEndpoint(services, organization.id, id)).list(query),
	}),

	organizationRoute('POST', `${PATH}/:id/deliveries/:deliveryId/replay`, {
		...shared,
		summary: 'Send a delivery again',
		refusals: [409],
		answer: replayAnswer,
		params: deliveryParams,
		handler: ({services, organization, params}) => replayDelivery(services, {organization, ...params}),
	}),

	organizationRoute('POST', `${PATH}/:id/replay`, {
		...shared,
		summary: 'Send all deliveries again that happened since a time',
		answer: replayAnswer,
		body: sinceBody,
		handler: ({services, organization, params: {id}, body}) =>
			replaySince(services, {organization, id, since: body.since}),
	}),
].flat();

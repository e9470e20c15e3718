import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {channelAnswer, channelChanges, newChannel} from './channel.ts';
import {createChannel, deleteChannel, getChannel, listChannels, renameChannel} from './channel-operations.ts';

export const portalChannelRoutes = [
	route({
		method: 'GET',
		path: '/portal/channels',
		summary: 'List channels, newest first',
		answer: pageOf(channelAnswer),
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listChannels(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/channels',
		summary: 'Create a channel',
		refusals: [409],
		answer: channelAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		body: newChannel,
		status: 201,
		handler: ({services, organization, by, body}) => createChannel(services, {organization, by, name: body.name}),
	}),

	route({
		method: 'GET',
		path: '/portal/channels/:id',
		summary: 'Get a channel',
		answer: channelAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, params: {id}}) => getChannel(services, {organization, id}),
	}),

	route({
		method: 'PATCH',
		path: '/portal/channels/:id',
		summary: 'Change a channel',
		refusals: [409],
		answer: channelAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		body: channelChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			renameChannel(services, {...body, organization, by, id}),
	}),

	route({
		method: 'DELETE',
		path: '/portal/channels/:id',
		summary: 'Delete a channel',
		answer: deletedAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteChannel(services, {organization, by, id}),
	}),
];

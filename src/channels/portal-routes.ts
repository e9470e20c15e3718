import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {channelChanges, newChannel} from './channel.ts';
import {createChannel, deleteChannel, getChannel, listChannels, renameChannel} from './channel-operations.ts';

export const portalChannelRoutes = [
	route({
		method: 'GET',
		path: '/portal/channels',
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listChannels(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/channels',
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
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, params: {id}}) => getChannel(services, {organization, id}),
	}),

	route({
		method: 'PATCH',
		path: '/portal/channels/:id',
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
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteChannel(services, {organization, by, id}),
	}),
];

import {organizationRoute} from '../../accounts/auth/route.ts';
import {channelNotFound, required} from '../../platform/errors.ts';
import {deletedAnswer, pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {channelAnswer, channelChanges, newChannel} from './channel.ts';
import {createChannel, deleteChannel, renameChannel} from './channel-operations.ts';
import {createChannelStore} from './channel-store.ts';

export const channelRoutes = [
	organizationRoute({
		method: 'GET',
		path: '/channels',
		summary: 'List channels, newest first',
		answer: pageOf(channelAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createChannelStore(services.db).list(organization.id, query),
	}),

	organizationRoute({
		method: 'POST',
		path: '/channels',
		summary: 'Create a channel',
		refusals: [409],
		answer: channelAnswer,
		role: 'developer',
		body: newChannel,
		status: 201,
		handler: ({services, organization, by, body}) => createChannel(services, {organization, by, name: body.name}),
	}),

	organizationRoute({
		method: 'GET',
		path: '/channels/:id',
		summary: 'Get a channel',
		answer: channelAnswer,
		role: 'viewer',
		params: idParams,
		handler: async ({services, organization, params: {id}}) =>
			required(await createChannelStore(services.db).find(organization.id, id), channelNotFound),
	}),

	organizationRoute({
		method: 'PATCH',
		path: '/channels/:id',
		summary: 'Change a channel',
		refusals: [409],
		answer: channelAnswer,
		role: 'developer',
		params: idParams,
		body: channelChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			renameChannel(services, {...body, organization, by, id}),
	}),

	organizationRoute({
		method: 'DELETE',
		path: '/channels/:id',
		summary: 'Delete a channel',
		answer: deletedAnswer,
		role: 'developer',
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteChannel(services, {organization, by, id}),
	}),
].flat();

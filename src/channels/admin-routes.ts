import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {pageQuerySchema, uuidParam} from '../http/validate.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {channelAnswer, channelChanges, newChannel} from './channel.ts';
import {createChannel, deleteChannel, getChannel, listChannels, renameChannel} from './channel-operations.ts';

const params = orgParams.append<{orgId: string; id: string}>({id: uuidParam});

export const channelRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/channels',
		summary: 'List channels, newest first',
		answer: pageOf(channelAnswer),
		credential: 'admin',
		params: orgParams,
		query: pageQuerySchema,
		handler: async ({services, params: {orgId}, query}) =>
			listChannels(services, {organization: await requireOrganization(services, orgId), query}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/channels',
		summary: 'Create a channel',
		refusals: [409],
		answer: channelAnswer,
		credential: 'admin',
		params: orgParams,
		body: newChannel,
		status: 201,
		handler: async ({services, by, params: {orgId}, body}) =>
			createChannel(services, {organization: await requireOrganization(services, orgId), by, name: body.name}),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/channels/:id',
		summary: 'Get a channel',
		answer: channelAnswer,
		credential: 'admin',
		params,
		handler: async ({services, params: {orgId, id}}) =>
			getChannel(services, {organization: await requireOrganization(services, orgId), id}),
	}),

	route({
		method: 'PATCH',
		path: '/admin/organizations/:orgId/channels/:id',
		summary: 'Change a channel',
		refusals: [409],
		answer: channelAnswer,
		credential: 'admin',
		params,
		body: channelChanges,
		handler: async ({services, by, params: {orgId, id}, body}) =>
			renameChannel(services, {...body, organization: await requireOrganization(services, orgId), by, id}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/channels/:id',
		summary: 'Delete a channel',
		answer: deletedAnswer,
		credential: 'admin',
		params,
		handler: async ({services, by, params: {orgId, id}}) =>
			deleteChannel(services, {organization: await requireOrganization(services, orgId), by, id}),
	}),
];

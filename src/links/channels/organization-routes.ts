import {audited, type Caller} from '../../accounts/audit/audit-log.ts';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {channelNotFound, required} from '../../platform/errors.ts';
import {deletedAnswer, pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {type Channel, channelAnswer, channelChanges, newChannel} from './channel.ts';
import {createChannelStore} from './channel-store.ts';

type Deps = Pick<Services, 'clock' | 'db'>;

type Write = {organization: {id: string}; by: Caller};

/** @throws 409 if the organization has a channel of that name. */
export const createChannel = (services: Deps, {name, ...target}: Write & {name: string}): Promise<Channel> =>
	audited(services, 'Channel', target, async ({trx, now, record}) => {
		const channel = await createChannelStore(trx, target.organization.id).insert(name, now);
		await record('CREATE', channel.id, {name});
		return channel;
	});

/** Renames a channel, also on its links and templates. @throws 404, 409 if the name is in use. */
export const renameChannel = (
	services: Deps,
	{id, name, ...target}: Write & {id: string; name?: string},
): Promise<Channel> =>
	audited(services, 'Channel', target, async ({trx, now, record}) => {
		const store = createChannelStore(trx, target.organization.id);
		const channel = required(await store.lock(id), channelNotFound);
		if (name === undefined || name === channel.name) {
			return channel;
		}

		const renamed = await store.rename(channel, name, now);
		await record('UPDATE', id, {from: channel.name, to: name});
		return renamed;
	});

/** Removes a channel from the set; links and templates keep their label. @throws 404. */
export const deleteChannel = (services: Deps, {id, ...target}: Write & {id: string}) =>
	audited(services, 'Channel', target, async ({trx, record}) => {
		const {name} = required(await createChannelStore(trx, target.organization.id).remove(id), channelNotFound);
		await record('DELETE', id, {name});
		return {id, deleted: true};
	});

export const channelRoutes = [
	organizationRoute('GET', '/channels', {
		summary: 'List channels, newest first',
		answer: pageOf(channelAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createChannelStore(services.db, organization.id).list(query),
	}),

	organizationRoute('POST', '/channels', {
		summary: 'Create a channel',
		refusals: [409],
		answer: channelAnswer,
		role: 'developer',
		body: newChannel,
		status: 201,
		handler: ({services, organization, by, body}) => createChannel(services, {organization, by, name: body.name}),
	}),

	organizationRoute('GET', '/channels/:id', {
		summary: 'Get a channel',
		answer: channelAnswer,
		role: 'viewer',
		params: idParams,
		handler: async ({services, organization, params: {id}}) =>
			required(await createChannelStore(services.db, organization.id).find(id), channelNotFound),
	}),

	organizationRoute('PATCH', '/channels/:id', {
		summary: 'Change a channel',
		refusals: [409],
		answer: channelAnswer,
		role: 'developer',
		params: idParams,
		body: channelChanges,
		handler: ({services, organization, by, params: {id}, body}) =>
			renameChannel(services, {...body, organization, by, id}),
	}),

	organizationRoute('DELETE', '/channels/:id', {
		summary: 'Delete a channel',
		answer: deletedAnswer,
		role: 'developer',
		params: idParams,
		handler: ({services, organization, by, params: {id}}) => deleteChannel(services, {organization, by, id}),
	}),
].flat();

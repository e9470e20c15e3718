import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {channelNotFound, required} from '../../platform/errors.ts';
import {deletedAnswer, pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {type Channel, channelAnswer, channelChanges, newChannel} from './channel.ts';
import {createChannelStore} from './channel-store.ts';

type Deps = Pick<Services, 'clock' | 'db'>;

type Write = {organization: {id: string}; by: Caller};

const record = (action: string, organizationId: string, entityId: string, details: Record<string, unknown>) => ({
	action,
	entityType: 'Channel',
	entityId,
	organizationId,
	details,
});

/** @throws 409 if the organization has a channel of that name. */
export const createChannel = (services: Deps, {organization, by, name}: Write & {name: string}): Promise<Channel> =>
	inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const channel = await createChannelStore(trx).insert(organization.id, name, now);
		await recordAudit(trx, now, by, record('CREATE', organization.id, channel.id, {name}));
		return channel;
	});

/** Renames a channel, also on its links and templates. @throws 404, 409 if the name is in use. */
export const renameChannel = (
	services: Deps,
	{organization, by, id, name}: Write & {id: string; name?: string},
): Promise<Channel> =>
	inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		const store = createChannelStore(trx);
		const channel = required(await store.lock(organization.id, id), channelNotFound);
		if (name === undefined || name === channel.name) {
			return channel;
		}

		const renamed = await store.rename(organization.id, {id, from: channel.name, to: name}, now);
		await recordAudit(trx, now, by, record('UPDATE', organization.id, id, {from: channel.name, to: name}));
		return renamed;
	});

/** Removes a channel from the set; links and templates keep their label. @throws 404. */
export const deleteChannel = (services: Deps, {organization, by, id}: Write & {id: string}) =>
	inTransaction(services.db, async (trx) => {
		const removed = required(await createChannelStore(trx).remove(organization.id, id), channelNotFound);
		await recordAudit(trx, services.clock.now(), by, record('DELETE', organization.id, id, {name: removed.name}));
		return {id, deleted: true};
	});

export const channelRoutes = [
	organizationRoute('GET', '/channels', {
		summary: 'List channels, newest first',
		answer: pageOf(channelAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createChannelStore(services.db).list(organization.id, query),
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
			required(await createChannelStore(services.db).find(organization.id, id), channelNotFound),
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

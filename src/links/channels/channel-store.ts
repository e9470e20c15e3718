import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {execute, sql} from '../../platform/db/sql.ts';
import {channelTaken, organizationNotFound} from '../../platform/errors.ts';
import type {Channel} from './channel.ts';

const columns: Columns<Channel> = columnsOf('id, name, created_at');

const nameTaken = (name: string) => (error: unknown) => {
	throw translateViolation(error, {
		channels_organization_id_name_key: () => channelTaken(name),
		channels_organization_id_fkey: organizationNotFound,
	});
};

/**
 * Whether the organization has a channel of that name, case-sensitive. In a transaction it also locks the name: a
 * concurrent rename waits for the commit, and then renames the rows written under the old name.
 */
export const channelExists = async (db: Db, organizationId: string, name: string): Promise<boolean> => {
	const found = await db('channels').where({organization_id: organizationId, name}).forKeyShare().select('id');
	return found.length > 0;
};

/** The statements on one organization's channels, over a pool or a transaction. */
export const createChannelStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const one = (id: string) => db('channels').where({...own, id});

	return {
		list: (page: PageQuery): Promise<Page<Channel>> =>
			readPage(db('channels').where(own).select(columns.list), page, [...descending('created_at'), 'name']),

		find: async (id: string): Promise<Channel | null> => (await one(id).first(columns.list)) ?? null,

		/** As `find`, and locks it until the transaction ends. */
		lock: async (id: string): Promise<Channel | null> => (await one(id).forUpdate().first(columns.list)) ?? null,

		/** @throws 409 if the organization has a channel of that name. */
		insert: async (name: string, now: Date): Promise<Channel> => {
			const rows: Channel[] = await db('channels')
				.insert({...own, id: randomUUID(), name, created_at: now})
				.returning(columns.list)
				.catch(nameTaken(name));
			return onlyRow(rows);
		},

		/** Renames a channel, and its label on links and templates. @throws 409 if the name is in use. */
		rename: async ({id, name: from}: Channel, to: string, now: Date): Promise<Channel> => {
			const rows: Channel[] = await one(id).update({name: to}).returning(columns.list).catch(nameTaken(to));
			// In the order of `lockAll` of links, to avoid deadlocks with imports.
			await execute(
				db,
				sql`UPDATE links SET channel = ${to}, updated_at = ${now} WHERE id IN (
					SELECT id FROM links WHERE organization_id = ${organizationId} AND channel = ${from} ORDER BY id FOR UPDATE)`,
			);
			const labelled = db('templates').where({...own, channel: from});
			await labelled.update({channel: to, updated_at: now});
			return onlyRow(rows);
		},

		/** @returns the removed channel; null if there was none. */
		remove: async (id: string): Promise<Channel | null> => {
			const [removed]: Channel[] = await one(id).delete().returning(columns.list);
			return removed ?? null;
		},
	};
};

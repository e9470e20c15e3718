import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import type {Endpoint, EndpointInput} from './endpoint.ts';

type Row = {
	id: string;
	url: string;
	description: string | null;
	events: Endpoint['events'];
	tags: string[] | null;
	channels: string[] | null;
	enabled: boolean;
	disabled_reason: string | null;
	created_at: Date;
};

const toEndpoint = (row: Row): Endpoint => ({
	id: row.id,
	url: row.url,
	description: row.description,
	events: row.events,
	filter: {
		...(row.tags === null ? {} : {tags: row.tags}),
		...(row.channels === null ? {} : {channels: row.channels}),
	},
	enabled: row.enabled,
	disabledReason: row.disabled_reason,
	createdAt: row.created_at,
});

const first = ([row]: Row[]): Endpoint | null => (row === undefined ? null : toEndpoint(row));

const columnsOf = ({filter, ...input}: Partial<EndpointInput>) => ({
	...input,
	...(filter === undefined ? {} : {tags: filter.tags ?? null, channels: filter.channels ?? null}),
});

/** The statements on one organization's endpoints. */
export const createEndpointStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const one = (id: string) => db('webhook_endpoints').where({...own, id});

	return {
		list: (page: PageQuery): Promise<Page<Endpoint>> =>
			readPage(db('webhook_endpoints').where(own), page, descending('created_at', 'id'), toEndpoint),

		find: async (id: string): Promise<Endpoint | null> => first(await one(id)),

		count: async (): Promise<number> => {
			const [row] = await db('webhook_endpoints').where(own).count({count: '*'});
			return Number(row?.['count'] ?? 0);
		},

		insert: async (input: EndpointInput, secret: string, now: Date): Promise<Endpoint> => {
			const rows: Row[] = await db('webhook_endpoints')
				.insert({
					enabled: true,
					...columnsOf(input),
					...own,
					id: randomUUID(),
					secret,
					created_at: now,
					updated_at: now,
				})
				.returning('*');
			return toEndpoint(onlyRow(rows));
		},

		/** One that is enabled again begins without failures. */
		update: async (id: string, changes: Partial<EndpointInput>, now: Date): Promise<Endpoint | null> =>
			first(
				await one(id)
					.update({
						...columnsOf(changes),
						...(changes.enabled === undefined ? {} : {disabled_reason: null, failing_since: null}),
						updated_at: now,
					})
					.returning('*'),
			),

		/** @param until when the secret before stops signing. */
		rotate: async (id: string, secret: string, {now, until}: {now: Date; until: Date}): Promise<Endpoint | null> =>
			first(
				await one(id)
					.update({previous_secret: db.ref('secret'), previous_until: until, secret, updated_at: now})
					.returning('*'),
			),

		remove: async (id: string): Promise<Endpoint | null> => first(await one(id).delete().returning('*')),
	};
};

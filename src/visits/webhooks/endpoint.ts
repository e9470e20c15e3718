import {randomBytes, randomUUID} from 'node:crypto';
import Joi from 'joi';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {answerOf, flag, instant, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';

/** The types that endpoints can subscribe to (contract/webhooks 2). */
export const eventTypes = [
	'link.created',
	'link.updated',
	'link.deleted',
	'click.recorded',
	'match.found',
	'match.missed',
	'event.tracked',
	'domain.verified',
	'domain.lapsed',
	'quota.reached',
	'endpoint.disabled',
] as const;

export type EventType = (typeof eventTypes)[number];

/** A URL of an organization that receives events. */
export type Endpoint = {
	id: string;
	url: string;
	description: string | null;
	events: Array<EventType | '*'>;
	/** Only events of links that have one of the tags, and one of the channels. */
	filter: {tags?: string[]; channels?: string[]};
	enabled: boolean;
	disabledReason: string | null;
	createdAt: Date;
};

export type EndpointInput = Pick<Endpoint, 'url' | 'events'> &
	Partial<Pick<Endpoint, 'description' | 'enabled'> & {filter: Endpoint['filter'] | null}>;

const labels = sizeFirst.array().items(sizeFirst.string().min(1).max(100)).min(1).max(50).unique();

const fields = {
	url: sizeFirst
		.string()
		.max(2048)
		.meta({schema: {description: 'An https URL without a user name, whose host leads to public addresses only.'}}),
	description: sizeFirst.string().max(200).allow(null),
	events: sizeFirst
		.array()
		.items(Joi.valid('*', ...eventTypes))
		.min(1)
		.max(eventTypes.length + 1)
		.unique(),
	filter: Joi.object({tags: labels, channels: labels}).allow(null),
	enabled: Joi.boolean(),
};

export const newEndpoint = Joi.object<EndpointInput>({
	...fields,
	url: fields.url.required(),
	events: fields.events.required(),
});

export const endpointChanges = Joi.object<Partial<EndpointInput>>(fields);

const answer = {
	id: uuid,
	url: text,
	description: textOrNull,
	events: Joi.array().items(text),
	filter: partOf({tags: Joi.array().items(text).optional(), channels: Joi.array().items(text).optional()}),
	enabled: flag,
	disabledReason: textOrNull,
	createdAt: instant,
};

export const endpointAnswer = answerOf('WebhookEndpoint', answer);

/** The only answers that show the secret. */
export const endpointWithSecretAnswer = answerOf('WebhookEndpointWithSecret', {...answer, secret: text});

/** A secret of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export const createSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

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
	...(filter === undefined ? {} : {tags: filter?.tags ?? null, channels: filter?.channels ?? null}),
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

		/** Enabling an endpoint again clears its failures. */
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

		/** Sets a new secret. @param until when the previous secret stops signing. */
		rotate: async (id: string, secret: string, {now, until}: {now: Date; until: Date}): Promise<Endpoint | null> =>
			first(
				await one(id)
					.update({previous_secret: db.ref('secret'), previous_until: until, secret, updated_at: now})
					.returning('*'),
			),

		remove: async (id: string): Promise<Endpoint | null> => first(await one(id).delete().returning('*')),
	};
};

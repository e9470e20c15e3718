import {randomBytes, randomUUID} from 'node:crypto';
import Joi from 'joi';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {countRows, descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {
	answerOf,
	flag,
	instant,
	listOf,
	optional,
	partOf,
	text,
	textOrNull,
	uuid,
	type ValueOf,
} from '../../platform/http/answer.ts';
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

const answer = {
	id: uuid,
	url: text,
	description: textOrNull,
	events: listOf(text),
	/** Only events of links that have one of the tags, and one of the channels. */
	filter: partOf({tags: optional(listOf(text)), channels: optional(listOf(text))}),
	enabled: flag,
	disabledReason: textOrNull,
	createdAt: instant,
};

/** A URL of an organization that receives events. */
export const endpointAnswer = answerOf('WebhookEndpoint', answer);
export type Endpoint = ValueOf<typeof endpointAnswer>;

/** The only answers that show the secret. */
export const endpointWithSecretAnswer = answerOf('WebhookEndpointWithSecret', {...answer, secret: text});

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

/** A secret of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export const createSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

type Row = Omit<Endpoint, 'filter'> & {tags: string[] | null; channels: string[] | null};

const columns: Columns<Row> = columnsOf(
	'id, url, description, events, tags, channels, enabled, disabled_reason, created_at',
);

const toEndpoint = ({id, url, description, events, tags, channels, ...others}: Row): Endpoint => ({
	...{id, url, description, events},
	filter: {...(tags && {tags}), ...(channels && {channels})},
	...others,
});

const first = ([row]: Row[]): Endpoint | null => (row === undefined ? null : toEndpoint(row));

const inputColumns = ({filter, ...input}: Partial<EndpointInput>) => ({
	...input,
	...(filter === undefined ? {} : {tags: filter?.tags ?? null, channels: filter?.channels ?? null}),
});

/** The statements on one organization's endpoints. */
export const createEndpointStore = (db: Db, organizationId: string) => {
	const own = {organization_id: organizationId};
	const all = () => db('webhook_endpoints').where(own);
	const update = async (id: string, changes: object): Promise<Endpoint | null> =>
		first(await all().where({id}).update(changes).returning(columns.list));

	return {
		list: (page: PageQuery): Promise<Page<Endpoint>> =>
			readPage(all().select(columns.list), page, descending('created_at', 'id'), toEndpoint),

		find: async (id: string): Promise<Endpoint | null> => first(await all().where({id}).select(columns.list)),

		count: (): Promise<number> => countRows(all()),

		insert: async (input: EndpointInput, secret: string, now: Date): Promise<Endpoint> => {
			const added = {...own, id: randomUUID(), secret, created_at: now, updated_at: now};
			const rows: Row[] = await db('webhook_endpoints')
				.insert({enabled: true, ...inputColumns(input), ...added})
				.returning(columns.list);
			return toEndpoint(onlyRow(rows));
		},

		/** Enabling an endpoint again clears its failures. */
		update: (id: string, changes: Partial<EndpointInput>, now: Date) =>
			update(id, {
				...inputColumns(changes),
				...(changes.enabled === undefined ? {} : {disabled_reason: null, failing_since: null}),
				updated_at: now,
			}),

		/** Sets a new secret. @param until when the previous secret stops signing. */
		rotate: (id: string, secret: string, {now, until}: {now: Date; until: Date}) =>
			update(id, {previous_secret: db.ref('secret'), previous_until: until, secret, updated_at: now}),

		remove: async (id: string): Promise<Endpoint | null> =>
			first(await all().where({id}).delete().returning(columns.list)),
	};
};

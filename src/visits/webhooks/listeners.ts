import {effectiveColumns} from '../../links/links/link-columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {run, type Sql, sql} from '../../platform/db/sql.ts';
import type {NewDelivery} from './delivery-store.ts';
import type {EventType} from './endpoint.ts';

/** An endpoint and the events that it is subscribed to. */
export type Listener = {
	id: string;
	organizationId: string;
	events: string[];
	tags: string[] | null;
	channels: string[] | null;
};

/** By their organization. */
export type Listeners = ReadonlyMap<string, Listener[]>;

/** The values of a link that filters compare. */
type Labels = {tags: string[] | null; channel: string | null};

/** An event, and the labels of its link; null: none. */
export type LabelledEvent = {
	organizationId: string;
	type: EventType;
	at: Date;
	data: object;
	link: {tags: readonly string[] | null; channel: string | null} | null;
};

/** The endpoints that are subscribed to one of the types, by their organization. */
export const readListeners = async (
	db: Db,
	types: readonly EventType[],
	organizationIds: readonly string[] | null = null,
): Promise<Map<string, Listener[]>> => {
	const isOf = organizationIds === null ? sql`` : sql`AND organization_id = ANY (${organizationIds}::uuid[])`;
	const rows = await run<Listener>(
		db,
		sql`SELECT id, organization_id AS "organizationId", events, tags, channels FROM webhook_endpoints
		WHERE enabled AND events && ${['*', ...types]}::text[] ${isOf}`,
	);
	const byOrganization = new Map<string, Listener[]>();
	for (const row of rows) {
		byOrganization.set(row.organizationId, [...(byOrganization.get(row.organizationId) ?? []), row]);
	}

	return byOrganization;
};

const meets = (wanted: readonly string[] | null, values: readonly string[]): boolean =>
	wanted === null || wanted.some((value) => values.includes(value));

/** Whether the endpoint is subscribed: to the type, and to the tags and channels of the link. */
export const isSubscribed = (listener: Listener, {type, link}: Pick<LabelledEvent, 'type' | 'link'>): boolean => {
	const isWanted = listener.events.includes('*') || listener.events.includes(type);
	// Events about no link, such as a quota's, are not filtered.
	const isAboutLinks = /^(?:link|click|match|event)\./.test(type);
	return (
		isWanted &&
		(!isAboutLinks ||
			(meets(listener.tags, link?.tags ?? []) && meets(listener.channels, link?.channel == null ? [] : [link.channel])))
	);
};

/** The body of a delivery (Standard Webhooks 1.0). */
export const bodyOf = (type: string, at: Date, data: object): string =>
	JSON.stringify({type, timestamp: at.toISOString(), data});

/** The deliveries of an event: one for each endpoint that is subscribed to it. */
export const deliveriesOf = (listeners: readonly Listener[], happened: LabelledEvent): NewDelivery[] => {
	const {organizationId, type, at, data} = happened;
	const subscribed = listeners.filter((listener) => isSubscribed(listener, happened));
	if (subscribed.length === 0) {
		return [];
	}

	const body = bodyOf(type, at, data);
	return subscribed.map(({id}) => ({endpointId: id, organizationId, type, at, body}));
};

/** The labels of links as they take effect, as reports choose links by them: their own or their template's. */
const labelsOf = (links: Sql): Sql =>
	sql`SELECT links.id, ${effectiveColumns(({name}) => name === 'tags' || name === 'channel')}
	FROM ${links} LEFT JOIN templates ON templates.id = links.template_id`;

const ofIds = (ids: string): Sql => sql`${labelsOf(sql`links`)}
	WHERE links.id IN (SELECT CAST(value AS uuid) FROM jsonb_array_elements_text(${ids}::jsonb))`;
const ofRows = (rows: string): Sql =>
	labelsOf(sql`jsonb_to_recordset(${rows}::jsonb) AS links (id uuid, template_id uuid, tags text[], channel text)`);

/** No labels are read if no endpoint filters. */
const readBy = async (
	db: Db,
	listeners: Listeners,
	statement: (links: string) => Sql,
	links: readonly unknown[],
): Promise<Map<string, Labels>> => {
	const isFiltered = [...listeners.values()].flat().some(({tags, channels}) => tags !== null || channels !== null);
	if (!isFiltered || links.length === 0) {
		return new Map();
	}

	const rows = await run<Labels & {id: string}>(db, statement(JSON.stringify(links)));
	return new Map(rows.map(({id, ...labels}) => [id, labels]));
};

/** The labels of stored links, for filters. */
export const readLabels = (db: Db, listeners: Listeners, ids: ReadonlyArray<string | null>) =>
	readBy(db, listeners, ofIds, [...new Set(ids.filter((id) => id !== null))]);

/** The labels of links as they were written, for filters: of a link that is gone, too. `id` may be any. */
export const readWrittenLabels = (
	db: Db,
	listeners: Listeners,
	rows: ReadonlyArray<Labels & {id: string; template_id: string | null}>,
) => readBy(db, listeners, ofRows, rows);

import type {Db} from '../../../platform/db/db.ts';
import {newRows, type SnapshotRange} from '../../../platform/db/new-rows.ts';
import {run, type Sql, sql} from '../../../platform/db/sql.ts';
import {clicksInFull, stepOf} from '../../clicks/click-sql.ts';

/** The organization and the link of an event; null if it is gone or was never known. */
type Subject = {
	organization: {id: string; orgKey: string; name: string} | null;
	link: {id: string; shortCode: string | null; title: string | null} | null;
};

/** A visit of a link; `botClass` is null for a person's. */
type ClickEvent = Subject & {
	id: string;
	at: Date;
	platform: string | null;
	browser: string | null;
	country: string | null;
	botClass: string | null;
};

/** A match attempt; more of it is at `/admin/organizations/:orgId/matches/:id`. */
type MatchEvent = Subject & {
	id: string;
	at: Date;
	matched: boolean;
	method: string;
	confidence: string | null;
	score: number | null;
	reason: string | null;
};

/** An event that an app has sent; `at` is when it arrived. */
export type AppEvent = Subject & {id: string; at: Date; eventName: string; deviceId: string | null};

/** An event of the stream, by the name of its type. */
export type StreamEvent =
	| {type: 'click'; data: ClickEvent}
	| {type: 'match'; data: MatchEvent}
	| {type: 'event'; data: AppEvent};

/** `at` is when the server received it, `newest` the order of an organization's rows, which begins with an index's order. */
const sources = {
	click: {
		table: sql`${clicksInFull} AS clicks`,
		name: sql`clicks`,
		at: sql`occurred_at`,
		newest: sql`${stepOf('organization', sql`occurred_at`)} DESC, occurred_at DESC`,
		columns: sql`platform, browser, country, bot_class AS "botClass"`,
	},
	match: {
		table: sql`match_attempts`,
		name: sql`match_attempts`,
		at: sql`at`,
		newest: sql`at DESC`,
		columns: sql`matched, method, confidence, score, reason`,
	},
	event: {
		table: sql`events`,
		name: sql`events`,
		at: sql`received_at`,
		newest: sql`occurred_at DESC`,
		columns: sql`event_name AS "eventName", device_id AS "deviceId"`,
	},
};

export type EventType = keyof typeof sources;
const eventTypes = Object.keys(sources) as EventType[];

type Row = {
	id: string;
	at: Date;
	writer?: string;
	organizationId: string | null;
	orgKey: string | null;
	name: string | null;
	linkId: string | null;
	shortCode: string | null;
	title: string | null;
};

const toEvent = (type: EventType, row: Row): StreamEvent => {
	const {id, at, writer: _, organizationId, orgKey, name, linkId, shortCode, title, ...own} = row;
	const organization =
		organizationId === null || orgKey === null || name === null ? null : {id: organizationId, orgKey, name};
	const link = linkId === null ? null : {id: linkId, shortCode, title};
	return {type, data: {id, at, organization, link, ...own}} as StreamEvent;
};

/** The columns of a type's rows. */
const columnsOf = ({at, columns}: (typeof sources)[EventType]): Sql =>
	sql`id, ${at} AS at, organization_id AS "organizationId", link_id AS "linkId", ${columns}`;

/** Rows of a type with the names of their organization and link. */
const withNames = (found: Sql): Sql =>
	sql`SELECT found.*, organizations.org_key AS "orgKey", organizations.name, links.short_code AS "shortCode", links.title
		FROM (${found}) AS found
		LEFT JOIN organizations ON organizations.id = found."organizationId"
		LEFT JOIN links ON links.id = found."linkId" AND links.organization_id = found."organizationId"`;

/** Clicks that are stored elsewhere as events; those of a deleted organization are omitted. */
export const clickEventsOf = async (db: Db, clicks: Sql): Promise<StreamEvent[]> => {
	const rows = await run<Row>(db, withNames(sql`SELECT ${columnsOf(sources.click)} FROM ${clicks} AS clicks`));
	return rows.filter(({orgKey}) => orgKey !== null).map((row) => toEvent('click', row));
};

/** The events of a range, page by page, the oldest of a page first. */
export async function* readBetween(
	db: Db,
	range: SnapshotRange,
	types: readonly EventType[] = eventTypes,
): AsyncGenerator<StreamEvent[]> {
	for (const type of types) {
		const {table, name} = sources[type];
		for await (const rows of newRows<Row>(
			db,
			{table, name, columns: columnsOf(sources[type]), around: withNames},
			range,
		)) {
			yield rows.map((row) => toEvent(type, row)).sort((a, b) => a.data.at.getTime() - b.data.at.getTime());
		}
	}
}

export const newestOf = (events: StreamEvent[], limit: number): StreamEvent[] =>
	events.toSorted((a, b) => b.data.at.getTime() - a.data.at.getTime()).slice(0, limit);

/** The newest events, newest first, of one organization or of all. */
export const readLatest = async (
	db: Db,
	{organizationId, limit}: {organizationId: string | null; limit: number},
	types: readonly EventType[] = eventTypes,
): Promise<StreamEvent[]> => {
	const found: StreamEvent[] = [];
	for (const type of types) {
		const {table, name, newest} = sources[type];
		// Each is the order of an index, of which only the end is read.
		const [condition, order] =
			organizationId === null
				? [sql`true`, sql`${name}.writer DESC`]
				: [sql`organization_id = ${organizationId}`, newest];
		const rows = await run<Row>(
			db,
			withNames(
				sql`SELECT ${columnsOf(sources[type])} FROM ${table} WHERE ${condition} ORDER BY ${order} LIMIT ${limit}`,
			),
		);
		found.push(...rows.map((row) => toEvent(type, row)));
	}

	return newestOf(found, limit);
};

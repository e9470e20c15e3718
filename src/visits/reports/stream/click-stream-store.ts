import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {clicksInFull, type Rows} from '../../clicks/click-context.ts';
import {stepOf, writtenBetween} from '../../clicks/click-times.ts';

/** The organization and the link of an event; null where it is gone or was never known. */
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

/** A request for a match and how it ended; more of it is at `/admin/organizations/:orgId/matches/:id`. */
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

/**
 * The transactions that were committed at one moment, as PostgreSQL writes them (`pg_snapshot`): `xmin:xmax:xip`. Rows
 * carry the number of the transaction that wrote them, so that each row is between exactly one pair of consecutive
 * snapshots, in any order of commits and with any number of processes.
 */
export type Snapshot = string;

type Parts = {xmin: bigint; xmax: bigint};

/** The bounds of a snapshot, or null for a text that PostgreSQL would reject. */
export const parseSnapshot = (text: string): Parts | null => {
	const [, least, most, list = ''] = /^(\d+):(\d+):((?:\d+,)*\d+)?$/.exec(text) ?? [];
	if (least === undefined || most === undefined) {
		return null;
	}

	const [xmin, xmax] = [BigInt(least), BigInt(most)];
	const underWay = list === '' ? [] : list.split(',').map(BigInt);
	const isOrdered = underWay.every((id, index) => id >= xmin && id < xmax && id > (underWay[index - 1] ?? 0n));
	return xmin > 0n && xmin <= xmax && isOrdered ? {xmin, xmax} : null;
};

/** Rows of a page: no more are in memory at once. */
const PAGE = 1000;

/** `at` is when the server saw it, `newest` the order of an organization's rows, which begins with an index's order. */
const sources = {
	click: {
		table: `${clicksInFull} AS clicks`,
		at: 'occurred_at',
		newest: `${stepOf('organization', 'occurred_at')} DESC, occurred_at DESC`,
		columns: 'platform, browser, country, bot_class AS "botClass"',
	},
	match: {
		table: 'match_attempts',
		at: 'at',
		newest: 'at DESC',
		columns: 'matched, method, confidence, score, reason',
	},
	event: {
		table: 'events',
		at: 'received_at',
		newest: 'occurred_at DESC',
		columns: 'event_name AS "eventName", device_id AS "deviceId"',
	},
} as const;

export type EventType = keyof typeof sources;
const eventTypes = Object.keys(sources) as EventType[];

type Row = {
	id: string;
	at: Date;
	writer: string;
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

/** Rows of a type with the names of their organization and link. */
const named = (found: string): string =>
	`SELECT found.*, organizations.org_key AS "orgKey", organizations.name, links.short_code AS "shortCode", links.title
		FROM (${found}) AS found
		LEFT JOIN organizations ON organizations.id = found."organizationId"
		LEFT JOIN links ON links.id = found."linkId" AND links.organization_id = found."organizationId"`;

/** The rows of a type that meet `condition`, with the names of their organization and link. */
const select = (type: EventType, condition: string, order: string, limit: number): string => {
	const {table, at, columns} = sources[type];
	return named(`SELECT id, ${at} AS at, CAST(writer AS text) AS writer, organization_id AS "organizationId",
			link_id AS "linkId", ${columns} FROM ${table}
		WHERE ${condition} ORDER BY ${order} LIMIT ${limit}`);
};

/** Clicks that are stored elsewhere as events; those of a deleted organization are left out. */
export const clickEventsOf = async (db: Db, {sql, bindings}: Rows): Promise<StreamEvent[]> => {
	const {rows} = await db.raw<{rows: Row[]}>(
		named(`SELECT id, occurred_at AS at, '0' AS writer, organization_id AS "organizationId", link_id AS "linkId",
			${sources.click.columns} FROM ${sql} AS clicks`),
		bindings,
	);
	return rows.filter(({orgKey}) => orgKey !== null).map((row) => toEvent('click', row));
};

/** The snapshot of now. */
export const readSnapshot = async (db: Db): Promise<Snapshot> => {
	const {rows} = await db.raw<{rows: Array<{snapshot: Snapshot}>}>(
		'SELECT CAST(pg_current_snapshot() AS text) AS snapshot',
	);
	return onlyRow(rows).snapshot;
};

/** The events committed after `from` and up to `upTo`, page by page, the oldest of a page first. */
export async function* readBetween(
	db: Db,
	from: Snapshot,
	upTo: Snapshot,
	types: readonly EventType[] = eventTypes,
): AsyncGenerator<StreamEvent[]> {
	for (const type of types) {
		let last = {writer: '0', id: '00000000-0000-0000-0000-000000000000'};
		for (;;) {
			const condition = `${writtenBetween('from', 'upTo')} AND (writer, id) > (CAST(:writer AS xid8), CAST(:id AS uuid))`;
			const {rows} = await db.raw<{rows: Row[]}>(select(type, condition, 'writer, id', PAGE), {from, upTo, ...last});
			const events = rows.map((row) => toEvent(type, row));
			if (events.length > 0) {
				yield events.sort((a, b) => a.data.at.getTime() - b.data.at.getTime());
			}

			if (rows.length < PAGE) {
				break;
			}

			// The outer joins may have changed the page's order.
			last = rows.reduce((max, {writer, id}) => {
				const order = BigInt(writer) - BigInt(max.writer);
				return order > 0n || (order === 0n && id > max.id) ? {writer, id} : max;
			}, last);
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
		// Each is the order of an index, so that only its end is read.
		const sql =
			organizationId === null
				? select(type, 'true', 'writer DESC', limit)
				: select(type, 'organization_id = :organizationId', sources[type].newest, limit);
		const {rows} = await db.raw<{rows: Row[]}>(sql, organizationId === null ? {} : {organizationId});
		found.push(...rows.map((row) => toEvent(type, row)));
	}

	return newestOf(found, limit);
};

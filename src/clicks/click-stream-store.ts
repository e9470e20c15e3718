import {type Db, onlyRow} from '../db/db.ts';
import {clicksInFull} from './click-context.ts';
import {stepOf} from './click-times.ts';

/** Who an event belongs to, and which link it is about; null where it is gone or was never known. */
type Subject = {
	organization: {id: string; orgKey: string; name: string} | null;
	link: {id: string; shortCode: string | null; title: string | null} | null;
};

/** A visit of a link; `botClass` is null for a person's. */
export type ClickEvent = Subject & {
	id: string;
	at: Date;
	platform: string | null;
	browser: string | null;
	country: string | null;
	botClass: string | null;
};

/** A request for a match and how it ended; more of it is at `/admin/organizations/:orgId/matches/:id`. */
export type MatchEvent = Subject & {
	id: string;
	at: Date;
	matched: boolean;
	method: string;
	confidence: string | null;
	score: number | null;
	reason: string | null;
};

/** What an app told of; `at` is when it came in. */
export type AppEvent = Subject & {id: string; at: Date; eventName: string; deviceId: string | null};

/** What the stream tells of, by the name of its event type. */
export type StreamEvent =
	| {type: 'click'; data: ClickEvent}
	| {type: 'match'; data: MatchEvent}
	| {type: 'event'; data: AppEvent};

/**
 * What had been committed at one moment, as PostgreSQL writes it (`pg_snapshot`): `xmin:xmax:xip`. Rows carry the number
 * of the transaction that wrote them, so that between two of these every row is told once, in whatever order they were
 * committed and however many processes write.
 */
export type Snapshot = string;

/** Rows of a page, which is what is in memory of them at once. */
const PAGE = 1000;

/** `at` is when it happened to us, `newest` the order of an organization's rows, which begins with that of an index. */
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
export const eventTypes = Object.keys(sources) as EventType[];

type Row = {
	id: string;
	at: Date;
	writer: string;
	organization_id: string | null;
	org_key: string | null;
	name: string | null;
	link_id: string | null;
	short_code: string | null;
	title: string | null;
};

const toEvent = (type: EventType, row: Row): StreamEvent => {
	const {id, at, writer: _, organization_id, org_key, name, link_id, short_code, title, ...own} = row;
	const organization =
		organization_id === null || org_key === null || name === null ? null : {id: organization_id, orgKey: org_key, name};
	const link = link_id === null ? null : {id: link_id, shortCode: short_code, title};
	return {type, data: {id, at, organization, link, ...own}} as StreamEvent;
};

/** Rows of a type that `condition` chooses, with the names of what they are about. */
const select = (type: EventType, condition: string, order: string, limit: number): string => {
	const {table, at, columns} = sources[type];
	return `SELECT found.*, organizations.org_key, organizations.name, links.short_code, links.title
		FROM (
			SELECT id, ${at} AS at, CAST(writer AS text) AS writer, organization_id, link_id, ${columns} FROM ${table}
			WHERE ${condition} ORDER BY ${order} LIMIT ${limit}
		) AS found
		LEFT JOIN organizations ON organizations.id = found.organization_id
		LEFT JOIN links ON links.id = found.link_id AND links.organization_id = found.organization_id`;
};

/** What is committed now. */
export const readSnapshot = async (db: Db): Promise<Snapshot> => {
	const {rows} = await db.raw<{rows: Array<{snapshot: Snapshot}>}>(
		'SELECT CAST(pg_current_snapshot() AS text) AS snapshot',
	);
	return onlyRow(rows).snapshot;
};

/** What was committed after `from` and up to `upTo`, page by page, each page with its oldest first. */
export async function* readBetween(db: Db, from: Snapshot, upTo: Snapshot): AsyncGenerator<StreamEvent[]> {
	for (const type of eventTypes) {
		let last = {writer: '0', id: '00000000-0000-0000-0000-000000000000'};
		for (;;) {
			// The first line is what the index on `writer` finds them by.
			const condition = `writer >= pg_snapshot_xmin(CAST(:from AS pg_snapshot)) AND writer < pg_snapshot_xmax(CAST(:upTo AS pg_snapshot))
				AND NOT pg_visible_in_snapshot(writer, CAST(:from AS pg_snapshot))
				AND pg_visible_in_snapshot(writer, CAST(:upTo AS pg_snapshot))
				AND (writer, id) > (CAST(:writer AS xid8), CAST(:id AS uuid))`;
			const {rows} = await db.raw<{rows: Row[]}>(select(type, condition, 'writer, id', PAGE), {from, upTo, ...last});
			const events = rows.map((row) => toEvent(type, row));
			if (events.length > 0) {
				yield events.sort((a, b) => a.data.at.getTime() - b.data.at.getTime());
			}

			if (rows.length < PAGE) {
				break;
			}

			// The page is in order, but the outer joins need not have kept it.
			last = rows.reduce((max, {writer, id}) => {
				const order = BigInt(writer) - BigInt(max.writer);
				return order > 0n || (order === 0n && id > max.id) ? {writer, id} : max;
			}, last);
		}
	}
}

/** The newest events, newest first, of one organization or of all. */
export const readLatest = async (
	db: Db,
	{organizationId, limit}: {organizationId: string | null; limit: number},
): Promise<StreamEvent[]> => {
	const found: StreamEvent[] = [];
	for (const type of eventTypes) {
		// Each is the order of an index, whose end is all that is read.
		const sql =
			organizationId === null
				? select(type, 'true', 'writer DESC', limit)
				: select(type, 'organization_id = :organizationId', sources[type].newest, limit);
		const {rows} = await db.raw<{rows: Row[]}>(sql, organizationId === null ? {} : {organizationId});
		found.push(...rows.map((row) => toEvent(type, row)));
	}

	return found.sort((a, b) => b.data.at.getTime() - a.data.at.getTime()).slice(0, limit);
};

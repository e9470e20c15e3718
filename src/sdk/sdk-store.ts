import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import {linkNotFound, unknownDevice} from '../errors.ts';

type Identity = {externalUserId: string; traits: Record<string, unknown> | null};

/** Says who uses a device, or, with null, that nobody is known to. @throws 404 for an unknown device. */
export const setIdentity = async (
	db: Db,
	{organizationId, deviceId, now}: {organizationId: string; deviceId: string; now: Date},
	identity: Identity | null,
): Promise<void> => {
	const changed = await db('devices')
		.where({organization_id: organizationId, device_id: deviceId})
		.update({
			external_user_id: identity?.externalUserId ?? null,
			traits: identity?.traits == null ? null : JSON.stringify(identity.traits),
			last_seen_at: now,
			by_visit: false,
		});
	if (changed === 0) {
		throw unknownDevice(deviceId);
	}
};

export type AppEvent = {
	id: string;
	organizationId: string;
	deviceId: string;
	eventName: string;
	properties: Record<string, unknown>;
	eventId: string | null;
	/** The link that the app says it belongs to; null: that of the device's last match. */
	linkId: string | null;
	occurredAt: Date;
	receivedAt: Date;
};

/** Events as JSON, told apart by their ids. A device that is being erased is not waited for, but left out. */
const insertMany: Prepared = {
	name: 'insert events',
	text: `WITH sent AS MATERIALIZED (
			SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS (id uuid, organization_id uuid, device_id text,
				event_id text, event_name text, properties jsonb, link_id uuid, occurred_at timestamptz,
				received_at timestamptz)) WITH ORDINALITY
		), known AS MATERIALIZED (
			SELECT sent.*, device.matched_link_id FROM sent CROSS JOIN LATERAL (
				SELECT matched_link_id FROM devices
				WHERE organization_id = sent.organization_id AND device_id = sent.device_id
				FOR KEY SHARE SKIP LOCKED
			) AS device
			WHERE sent.link_id IS NULL OR (
				-- no EXISTS, for which all links might be hashed
				SELECT true FROM links WHERE id = sent.link_id AND organization_id = sent.organization_id
			)
		), stored AS (
			INSERT INTO events (id, organization_id, device_id, event_id, event_name, properties, link_id, occurred_at, received_at)
			SELECT id, organization_id, device_id, event_id, event_name, properties, coalesce(link_id, matched_link_id),
				occurred_at, received_at
			FROM known ORDER BY ordinality
			ON CONFLICT (organization_id, event_id) DO NOTHING
		)
		SELECT id FROM known`,
};

/** In an order that all processes keep, so that none waits for another's `eventId` that waits for its own. */
const inOrder = (one: AppEvent, other: AppEvent): number =>
	one.organizationId === other.organizationId
		? Number((one.eventId ?? '') > (other.eventId ?? '')) - Number((one.eventId ?? '') < (other.eventId ?? ''))
		: one.organizationId > other.organizationId
			? 1
			: -1;

/**
 * Stores events with one statement. The devices stay until their events are there, so that whoever erases one finds its
 * events, too.
 * @returns the ids of those that are stored, or were before by their `eventId`; the others' device or link is not known,
 * or is just being erased. @throws what PostgreSQL refuses any of them for; then none is stored.
 */
export const storeEvents = async (db: Db, events: readonly AppEvent[]): Promise<Set<string>> => {
	const rows = events.toSorted(inOrder).map((event) => ({
		id: event.id,
		organization_id: event.organizationId,
		device_id: event.deviceId,
		event_id: event.eventId,
		event_name: event.eventName,
		properties: event.properties,
		link_id: event.linkId,
		occurred_at: event.occurredAt,
		received_at: event.receivedAt,
	}));
	const stored = await runPrepared<{id: string}>(db, insertMany, [JSON.stringify(rows)]);
	return new Set(stored.map(({id}) => id));
};

const insertOne: Prepared = {
	name: 'insert an event',
	text: `WITH device AS (
			SELECT matched_link_id FROM devices WHERE organization_id = $2 AND device_id = $3 FOR KEY SHARE
		), link AS (
			SELECT id FROM links WHERE organization_id = $2 AND id = $7
		), stored AS (
			INSERT INTO events (id, organization_id, device_id, event_id, event_name, properties, link_id, occurred_at, received_at)
			SELECT CAST($1 AS uuid), CAST($2 AS uuid), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS jsonb),
				coalesce(CAST($7 AS uuid), matched_link_id), CAST($8 AS timestamptz), CAST($9 AS timestamptz)
			FROM device WHERE CAST($7 AS uuid) IS NULL OR EXISTS (SELECT FROM link)
			ON CONFLICT (organization_id, event_id) DO NOTHING
		)
		SELECT EXISTS (SELECT FROM device) AS knows_device,
			CAST($7 AS uuid) IS NULL OR EXISTS (SELECT FROM link) AS knows_link`,
};

/**
 * Stores an event; one whose `eventId` the organization has sent before is stored already.
 * The device stays until the event is there, so that whoever erases it finds the event, too.
 * @throws 404 for an unknown device, or a link that is not the organization's.
 */
export const storeEvent = async (db: Db, event: AppEvent): Promise<void> => {
	const {id, organizationId, deviceId, eventId, eventName, properties, linkId, occurredAt, receivedAt} = event;
	const [known] = await runPrepared<{knows_device: boolean; knows_link: boolean}>(db, insertOne, [
		id,
		organizationId,
		deviceId,
		eventId,
		eventName,
		JSON.stringify(properties),
		linkId,
		occurredAt,
		receivedAt,
	]);
	if (!known?.knows_device) {
		throw unknownDevice(deviceId);
	}

	if (!known.knows_link) {
		throw linkNotFound();
	}
};

export type EventRow = {
	id: string;
	event_id: string | null;
	event_name: string;
	/** Null where it has been erased. */
	device_id: string | null;
	properties: Record<string, unknown>;
	link_id: string | null;
	occurred_at: Date;
	received_at: Date;
};

/** An event as the API shows it. */
export const eventJson = (row: EventRow) => ({
	id: row.id,
	eventId: row.event_id,
	eventName: row.event_name,
	deviceId: row.device_id,
	properties: row.properties,
	linkId: row.link_id,
	occurredAt: row.occurred_at,
	receivedAt: row.received_at,
});

export type EventJson = ReturnType<typeof eventJson>;

/** An organization's events, those that happened last first. */
export const listEvents = async (db: Db, organizationId: string, query: PageQuery): Promise<Page<EventJson>> => {
	const all = db('events').where({organization_id: organizationId});
	return readPage(all, query, 'occurred_at DESC, id DESC', eventJson);
};

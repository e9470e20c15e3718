import {type Columns, columnsOf} from '../db/columns.ts';
import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import {linkNotFound, unknownDevice} from '../errors.ts';

type Identity = {externalUserId: string; traits: Record<string, unknown> | null};

/** Sets the user of a device; null: no known user. @throws 404 for an unknown device. */
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

/**
 * `$1` is the events as JSON. It skips devices and organizations that are being erased, and waits for none. The
 * organization is locked before its device, as a removal of it does.
 */
const insertMany: Prepared = {
	name: 'insert events',
	text: `WITH sent AS MATERIALIZED (
			SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS (id uuid, "organizationId" uuid, "deviceId" text,
				"eventId" text, "eventName" text, properties jsonb, "linkId" uuid, "occurredAt" timestamptz,
				"receivedAt" timestamptz)) WITH ORDINALITY AS event (id, organization_id, device_id, event_id, event_name,
				properties, link_id, occurred_at, received_at, ordinality)
		), known AS MATERIALIZED (
			SELECT sent.*, device.matched_link_id FROM sent CROSS JOIN LATERAL (
				SELECT id FROM organizations WHERE id = sent.organization_id FOR KEY SHARE SKIP LOCKED
			) AS owner CROSS JOIN LATERAL (
				SELECT matched_link_id FROM devices WHERE organization_id = owner.id AND device_id = sent.device_id
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

/** An order that all processes keep, so that no two wait for each other's `eventId`. */
const inOrder = (one: AppEvent, other: AppEvent): number =>
	one.organizationId === other.organizationId
		? Number((one.eventId ?? '') > (other.eventId ?? '')) - Number((one.eventId ?? '') < (other.eventId ?? ''))
		: one.organizationId > other.organizationId
			? 1
			: -1;

/**
 * Stores events with one statement. The devices stay until their events are there, so that an erasure of the device finds its
 * events, too.
 * @returns the ids of those that are stored now, or were before by their `eventId`; the others' device or link is unknown
 * or being erased. @throws PostgreSQL's error where it rejects one of them; then none is stored.
 */
export const storeEvents = async (db: Db, events: readonly AppEvent[]): Promise<Set<string>> => {
	const sent = JSON.stringify(events.toSorted(inOrder));
	const stored = await runPrepared<{id: string}>(db, insertMany, [sent]);
	return new Set(stored.map(({id}) => id));
};

const insertOne: Prepared = {
	name: 'insert an event',
	text: `WITH owner AS MATERIALIZED (
			SELECT id FROM organizations WHERE id = $2 FOR KEY SHARE
		), device AS (
			SELECT matched_link_id FROM owner CROSS JOIN LATERAL (
				SELECT matched_link_id FROM devices WHERE organization_id = owner.id AND device_id = $3 FOR KEY SHARE
			) AS device
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
 * The device stays until the event is there, so that an erasure of the device finds the event, too.
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

/** An event as the API shows it. */
export type EventJson = Omit<AppEvent, 'organizationId' | 'deviceId'> & {
	/** Null where it has been erased. */
	deviceId: string | null;
};

export const eventColumns: Columns<EventJson> = columnsOf(
	'id, event_id, event_name, device_id, properties, link_id, occurred_at, received_at',
);

/** An organization's events, the latest occurrence first. */
export const listEvents = (db: Db, organizationId: string, query: PageQuery): Promise<Page<EventJson>> =>
	readPage(
		db('events').where({organization_id: organizationId}).select(eventColumns.list),
		query,
		'occurred_at DESC, id DESC',
	);

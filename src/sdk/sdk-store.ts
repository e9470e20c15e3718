import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {readPage} from '../db/read-page.ts';
import {linkNotFound, unknownDevice} from '../errors.ts';
import type {Page, PageQuery} from '../http/validate.ts';

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
		});
	if (changed === 0) {
		throw unknownDevice(deviceId);
	}
};

export type AppEvent = {
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
 * Stores an event; one whose `eventId` the organization has sent before is stored already.
 * The device stays until the event is there, so that whoever erases it finds the event, too.
 * @throws 404 for an unknown device, or a link that is not the organization's.
 */
export const storeEvent = async (db: Db, event: AppEvent): Promise<void> => {
	const {organizationId, deviceId, eventId, eventName, properties, linkId, occurredAt, receivedAt} = event;
	const {rows} = await db.raw<{rows: Array<{knows_device: boolean; knows_link: boolean}>}>(
		`WITH device AS (
			SELECT matched_link_id FROM devices WHERE organization_id = :organizationId AND device_id = :deviceId
			FOR KEY SHARE
		), link AS (
			SELECT id FROM links WHERE organization_id = :organizationId AND id = CAST(:linkId AS uuid)
		), stored AS (
			INSERT INTO events (id, organization_id, device_id, event_id, event_name, properties, link_id, occurred_at, received_at)
			SELECT CAST(:id AS uuid), CAST(:organizationId AS uuid), :deviceId, :eventId, :eventName, CAST(:properties AS jsonb),
				coalesce(CAST(:linkId AS uuid), matched_link_id), CAST(:occurredAt AS timestamptz), CAST(:receivedAt AS timestamptz)
			FROM device WHERE CAST(:linkId AS uuid) IS NULL OR EXISTS (SELECT FROM link)
			ON CONFLICT (organization_id, event_id) DO NOTHING
		)
		SELECT EXISTS (SELECT FROM device) AS knows_device,
			CAST(:linkId AS uuid) IS NULL OR EXISTS (SELECT FROM link) AS knows_link`,
		{
			id: randomUUID(),
			organizationId,
			deviceId,
			eventId,
			eventName,
			properties: JSON.stringify(properties),
			linkId,
			occurredAt,
			receivedAt,
		},
	);
	if (!rows[0]?.knows_device) {
		throw unknownDevice(deviceId);
	}

	if (!rows[0].knows_link) {
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

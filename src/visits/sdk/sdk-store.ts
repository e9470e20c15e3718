import {createBatches, repeatBatches} from '../../platform/db/batches.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {execute, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {linkNotFound, required, unknownDevice} from '../../platform/errors.ts';
import type {ValueOf} from '../../platform/http/answer.ts';
import {attributionOfEvent, lastLink} from '../devices/attribution.ts';
import {keepLinkCounts, quarterOf} from '../reports/rollups/keep-counts.ts';
import {readState} from '../reports/rollups/rollup-store.ts';
import type {eventAnswer} from './sdk-fields.ts';

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

const deviceLink = lastLink(sql`sent.occurred_at`);
const attribution = attributionOfEvent(sql`known`);

/**
 * The organization is locked before its device, as a removal of it does.
 * @param erased the rule for devices that are being erased at this moment.
 */
const insertEvents = (events: readonly AppEvent[], erased = sql``): Sql =>
	sql`WITH sent AS MATERIALIZED (
			SELECT * FROM ROWS FROM (json_to_recordset(${JSON.stringify(events)}::json) AS (id uuid, "organizationId" uuid, "deviceId" text,
				"eventId" text, "eventName" text, properties jsonb, "linkId" uuid, "occurredAt" timestamptz,
				"receivedAt" timestamptz)) WITH ORDINALITY AS event (id, organization_id, device_id, event_id, event_name,
				properties, link_id, occurred_at, received_at, ordinality)
		), known AS MATERIALIZED (
			SELECT sent.*, device.*, coalesce(sent.link_id, met_link_id) AS attributed_link_id FROM sent CROSS JOIN LATERAL (
				SELECT id FROM organizations WHERE id = sent.organization_id FOR KEY SHARE
			) AS owner CROSS JOIN LATERAL (
				SELECT matched_link_id, matched_at, opened_link_id, opened_at, opened_attribution,
					${deviceLink} AS met_link_id
				FROM devices WHERE organization_id = owner.id AND device_id = sent.device_id
				FOR KEY SHARE ${erased}
			) AS device
			WHERE sent.link_id IS NULL OR (
				-- no EXISTS, for which all links might be hashed
				SELECT true FROM links WHERE id = sent.link_id AND organization_id = sent.organization_id
			)
		), stored AS (
			INSERT INTO events (id, organization_id, device_id, event_id, event_name, properties, link_id, attributed_link_id,
				attribution, occurred_at, received_at)
			SELECT id, organization_id, device_id, event_id, event_name, properties, coalesce(link_id, matched_link_id),
				attributed_link_id, ${attribution}, occurred_at, received_at
			FROM known ORDER BY ordinality
			ON CONFLICT (organization_id, event_id) DO NOTHING
		)
		SELECT id FROM known`;

/**
 * A batch holds many devices, so it waits for none that is being erased: that event is inserted alone. It does wait for
 * an organization that is being deleted: inserted alone, each of its events would hold a connection for as long. That
 * is no deadlock, since a deletion waits for locks of its own organization only.
 */
const insertMany = (events: readonly AppEvent[]) => prepared('insert events', insertEvents(events, sql`SKIP LOCKED`));
const insertOne = (event: AppEvent) => prepared('insert an event', insertEvents([event]));

/**
 * The devices stay until their events are stored: an erasure of a device finds its events, too.
 * @returns the ids of those that are stored now, or were before by their `eventId`; the others' device or link is unknown
 * or being erased. @throws PostgreSQL's error if it rejects one of them; then none is stored.
 */
const insert = async (db: Db, statement: Sql): Promise<Set<string>> => {
	const stored = await run<{id: string}>(db, statement);
	return new Set(stored.map(({id}) => id));
};

/** The same order in all processes: they cannot deadlock on an `eventId`. */
const inOrder = (one: AppEvent, other: AppEvent): number =>
	one.organizationId === other.organizationId
		? Number((one.eventId ?? '') > (other.eventId ?? '')) - Number((one.eventId ?? '') < (other.eventId ?? ''))
		: one.organizationId > other.organizationId
			? 1
			: -1;

/** Stores apps' events. */
type EventWriter = {
	/** Resolves when the event is committed. @throws 404 for an unknown device, or a link of another organization. */
	store(event: AppEvent): Promise<unknown>;
};

/** Maximum events per statement, of up to 10 KiB each. */
const MAX_BATCH = 200;

/** Group commit: concurrent events share a statement and its commit. */
export const createEventWriter = (db: Db): EventWriter => ({
	store: createBatches<AppEvent, true>({
		max: MAX_BATCH,
		many: async (events) => {
			const stored = await insert(db, insertMany(events.toSorted(inOrder)));
			return events.map(({id}) => (stored.has(id) ? true : undefined));
		},
		one: async (event) => {
			const {organizationId, deviceId} = event;
			const isStored = async () => (await insert(db, insertOne(event))).size > 0;
			if (await isStored()) {
				return true;
			}

			const own = db('devices').where({organization_id: organizationId, device_id: deviceId});
			required(await own.first('id'), () => unknownDevice(deviceId));
			// A session may have registered the device since the first attempt.
			if (!(await isStored())) {
				throw event.linkId === null ? unknownDevice(deviceId) : linkNotFound();
			}

			return true;
		},
	}),
});

/** An event as the API shows it. */
export type EventJson = ValueOf<typeof eventAnswer>;

export const eventColumns: Columns<EventJson> = columnsOf(
	'id, event_id, event_name, device_id, properties, link_id, occurred_at, received_at',
);

/** An organization's events, the latest occurrence first. */
export const listEvents = (db: Db, organizationId: string, query: PageQuery): Promise<Page<EventJson>> =>
	readPage(
		db('events').where({organization_id: organizationId}).select(eventColumns.list),
		query,
		descending('occurred_at', 'id'),
	);

const keptCounts =
	keepLinkCounts(sql`SELECT organization_id, link_id, month, ${quarterOf(sql`occurred_at`, sql`month`)} AS quarter, 0 AS clicks,
			0 AS crawler_views, count(*) AS events
		FROM gone, date_trunc('month', occurred_at, 'UTC') AS month WHERE link_id IS NOT NULL GROUP BY 1, 2, 3, 4`);

/**
 * Deletes the events of the days (UTC) before. Reports do not change: only whole days that are rolled up are deleted,
 * those of links are counted, and the rollups are marked as the only source before that time.
 * @returns how many.
 */
export const deleteEvents = async (db: Db, before: Date): Promise<number> => {
	const state = await readState(db);
	if (state === null || !state.isOfThisCluster || state.backfill !== null) {
		return 0;
	}

	const midnight = new Date(before);
	midnight.setUTCHours(0, 0, 0, 0);
	await db('rollups').where('events_from', '<', midnight).update({events_from: midnight});
	return repeatBatches((limit) =>
		execute(
			db,
			// A few per organization at a time, in the order of the index.
			sql`WITH gone AS (DELETE FROM events WHERE id IN (
				SELECT old.id FROM organizations CROSS JOIN LATERAL (
					SELECT id FROM events WHERE organization_id = organizations.id AND occurred_at < ${midnight}
						AND pg_visible_in_snapshot(writer, (SELECT rolled FROM rollups))
					ORDER BY occurred_at LIMIT 1000 FOR UPDATE SKIP LOCKED
				) AS old LIMIT ${limit}
			) RETURNING organization_id, link_id, occurred_at), kept AS (${keptCounts})
			SELECT FROM gone`,
		),
	);
};

import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {run, sql} from '../../platform/db/sql.ts';
import type {GatewayName} from './subscription.ts';

export type EventOutcome = 'APPLIED' | 'IGNORED' | 'UNMATCHED' | 'REVIEW';

/** A verified event. `payload` is sealed if it contains a card. */
export type IncomingEvent = {
	gateway: GatewayName;
	/** Identifies the event across deliveries (contract/billing 9). */
	eventKey: string;
	type: string;
	/** Matches an UNMATCHED event later: the subscription (A), the order (B). */
	reference: string | null;
	payload: string;
};

/** The change that an event made; `reason` is one sentence, if it made none. */
export type Decision = {
	outcome: EventOutcome;
	reason: string;
	organizationId?: string | null;
	attemptId?: string | null;
};

export type GatewayEvent = IncomingEvent &
	Required<Decision> & {id: string; deliveries: number; receivedAt: Date; processedAt: Date};

const columns: Columns<GatewayEvent> = columnsOf(
	'id, gateway, event_key, type, outcome, reason, organization_id, attempt_id, reference, payload, deliveries, received_at, processed_at',
);

/** For operators, without the payload. */
export const gatewayEventJson = ({payload, ...event}: GatewayEvent) => event;

type EventFilter = {gateway?: GatewayName; outcome?: EventOutcome; organizationId?: string};

/** The statements on the ledger, over a pool or a transaction. The ledger is the operator's: no tenant is named. */
export const createGatewayEventStore = (db: Db) => ({
	/**
	 * Records a delivery. Another one of the same event waits here until the first is committed or rolled back.
	 * @returns the row, and whether it is the first delivery.
	 */
	record: async (
		{gateway, eventKey, type, reference, payload}: IncomingEvent,
		now: Date,
	): Promise<{event: GatewayEvent; isNew: boolean}> => {
		const rows = await run<GatewayEvent & {isNew: boolean}>(
			db,
			sql`INSERT INTO gateway_events
				(id, gateway, event_key, type, outcome, reason, reference, payload, received_at, processed_at)
			VALUES (${randomUUID()}, ${gateway}, ${eventKey}, ${type}, 'IGNORED', '', ${reference}, ${payload}, ${now}, ${now})
			ON CONFLICT (gateway, event_key) DO UPDATE SET deliveries = gateway_events.deliveries + 1
			RETURNING ${columns.of('gateway_events')}, deliveries = 1 AS "isNew"`,
		);
		const {isNew, ...event} = onlyRow(rows);
		return {event, isNew};
	},

	/** Counts another delivery of a settled event. @returns null if the event is new or UNMATCHED. */
	countRepetition: async ({gateway, eventKey}: IncomingEvent): Promise<GatewayEvent | null> => {
		const [event]: GatewayEvent[] = await db('gateway_events')
			.where({gateway, event_key: eventKey})
			.whereNot({outcome: 'UNMATCHED'})
			.increment('deliveries')
			.returning(columns.list);
		return event ?? null;
	},

	/** Stores the outcome. */
	settle: async (
		id: string,
		{outcome, reason, organizationId = null, attemptId = null}: Decision,
		now: Date,
	): Promise<GatewayEvent> => {
		const rows: GatewayEvent[] = await db('gateway_events')
			.where({id})
			.update({...toColumns({outcome, reason, organizationId, attemptId}), processed_at: now})
			.returning(columns.list);
		return onlyRow(rows);
	},

	/** Locked until the transaction ends. */
	lock: async (id: string): Promise<GatewayEvent> => {
		const rows: GatewayEvent[] = await db('gateway_events').where({id}).forUpdate().select(columns.list);
		return onlyRow(rows);
	},

	/** Stores the steps that followed the event. */
	amend: async (gateway: GatewayName, eventKey: string, reason: string): Promise<void> => {
		await db('gateway_events').where({gateway, event_key: eventKey}).update({reason});
	},

	find: async (id: string): Promise<GatewayEvent | null> =>
		(await db('gateway_events').where({id}).first(columns.list)) ?? null,

	/** UNMATCHED events, oldest first: of one reference, or all that an attempt's reference matches by now. */
	listUnmatched: (gateway: GatewayName, reference: string | null, limit: number): Promise<GatewayEvent[]> =>
		run(
			db,
			sql`SELECT ${columns.of('gateway_events')} FROM gateway_events
			WHERE gateway = ${gateway} AND outcome = 'UNMATCHED' AND ${
				reference === null
					? sql`EXISTS (SELECT 1 FROM billing_attempts
						WHERE billing_attempts.gateway = gateway_events.gateway AND gateway_ref = reference)`
					: sql`reference = ${reference}`
			}
			ORDER BY received_at LIMIT ${limit}`,
		),

	list: ({page, limit, ...filter}: PageQuery & EventFilter): Promise<Page<GatewayEvent>> =>
		readPage(
			db('gateway_events').where(toColumns(filter)).select(columns.list),
			{page, limit},
			descending('received_at', 'id'),
		),
});

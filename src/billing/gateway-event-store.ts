import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
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

/** What an event changed, or in `reason`, one sentence, why it changed nothing. */
export type Verdict = {
	outcome: EventOutcome;
	reason: string;
	organizationId?: string | null;
	attemptId?: string | null;
};

type Row = {
	id: string;
	gateway: GatewayName;
	event_key: string;
	type: string;
	outcome: EventOutcome;
	reason: string;
	organization_id: string | null;
	attempt_id: string | null;
	reference: string | null;
	payload: string;
	deliveries: number;
	received_at: Date;
	processed_at: Date;
};

export type GatewayEvent = IncomingEvent & {
	id: string;
	outcome: EventOutcome;
	reason: string;
	organizationId: string | null;
	attemptId: string | null;
	deliveries: number;
	receivedAt: Date;
	processedAt: Date;
};

const toEvent = (row: Row): GatewayEvent => ({
	id: row.id,
	gateway: row.gateway,
	eventKey: row.event_key,
	type: row.type,
	outcome: row.outcome,
	reason: row.reason,
	organizationId: row.organization_id,
	attemptId: row.attempt_id,
	reference: row.reference,
	payload: row.payload,
	deliveries: row.deliveries,
	receivedAt: row.received_at,
	processedAt: row.processed_at,
});

/** For operators, without the payload. */
export const gatewayEventJson = (event: GatewayEvent) => ({
	id: event.id,
	gateway: event.gateway,
	eventKey: event.eventKey,
	type: event.type,
	outcome: event.outcome,
	reason: event.reason,
	organizationId: event.organizationId,
	attemptId: event.attemptId,
	reference: event.reference,
	deliveries: event.deliveries,
	receivedAt: event.receivedAt,
	processedAt: event.processedAt,
});

export type EventFilter = {gateway?: GatewayName; outcome?: EventOutcome; organizationId?: string};

/** The statements on the ledger, over a pool or a transaction. The ledger is the operator's: no tenant is named. */
export const createGatewayEventStore = (db: Db) => ({
	/**
	 * Records a delivery. Another one of the same event waits here until the first is committed or rolled back.
	 * @returns the row, and whether it is the first delivery.
	 */
	record: async (event: IncomingEvent, now: Date): Promise<{event: GatewayEvent; isNew: boolean}> => {
		const {rows} = await db.raw<{rows: Array<Row & {is_new: boolean}>}>(
			`INSERT INTO gateway_events
				(id, gateway, event_key, type, outcome, reason, reference, payload, received_at, processed_at)
			VALUES (:id, :gateway, :eventKey, :type, 'IGNORED', '', :reference, :payload, :now, :now)
			ON CONFLICT (gateway, event_key) DO UPDATE SET deliveries = gateway_events.deliveries + 1
			RETURNING *, deliveries = 1 AS is_new`,
			{...event, id: randomUUID(), now},
		);
		const row = onlyRow(rows);
		return {event: toEvent(row), isNew: row.is_new};
	},

	/** Counts another delivery of a settled event. @returns null if the event is new or UNMATCHED. */
	countRepetition: async ({gateway, eventKey}: IncomingEvent): Promise<GatewayEvent | null> => {
		const [row] = (await db('gateway_events')
			.where({gateway, event_key: eventKey})
			.whereNot({outcome: 'UNMATCHED'})
			.increment('deliveries')
			.returning('*')) as Row[];
		return row === undefined ? null : toEvent(row);
	},

	/** Stores the verdict. */
	settle: async (
		id: string,
		{outcome, reason, organizationId, attemptId}: Verdict,
		now: Date,
	): Promise<GatewayEvent> => {
		const rows: Row[] = await db('gateway_events')
			.where({id})
			.update({
				outcome,
				reason,
				organization_id: organizationId ?? null,
				attempt_id: attemptId ?? null,
				processed_at: now,
			})
			.returning('*');
		return toEvent(onlyRow(rows));
	},

	/** Locked until the transaction ends. */
	lock: async (id: string): Promise<GatewayEvent> => {
		const rows: Row[] = await db('gateway_events').where({id}).forUpdate();
		return toEvent(onlyRow(rows));
	},

	/** Stores what was done after the event was applied. */
	amend: async (gateway: GatewayName, eventKey: string, reason: string): Promise<void> => {
		await db('gateway_events').where({gateway, event_key: eventKey}).update({reason});
	},

	find: async (id: string): Promise<GatewayEvent | null> => {
		const [row] = (await db('gateway_events').where({id})) as Row[];
		return row === undefined ? null : toEvent(row);
	},

	/** UNMATCHED events, oldest first: of one reference, or all that an attempt's reference matches by now. */
	listUnmatched: async (gateway: GatewayName, reference: string | null, limit: number): Promise<GatewayEvent[]> => {
		const rows: Row[] = await db('gateway_events')
			.where({gateway, outcome: 'UNMATCHED'})
			.modify((query) => {
				if (reference === null) {
					query.whereRaw(
						`EXISTS (SELECT 1 FROM billing_attempts AS attempt
							WHERE attempt.gateway = gateway_events.gateway AND attempt.gateway_ref = gateway_events.reference)`,
					);
				} else {
					query.where({reference});
				}
			})
			.orderBy('received_at')
			.limit(limit);
		return rows.map(toEvent);
	},

	list: ({page, limit, gateway, outcome, organizationId}: PageQuery & EventFilter): Promise<Page<GatewayEvent>> => {
		const all = db('gateway_events').where({
			...(gateway === undefined ? {} : {gateway}),
			...(outcome === undefined ? {} : {outcome}),
			...(organizationId === undefined ? {} : {organization_id: organizationId}),
		});
		return readPage(all, {page, limit}, 'received_at DESC, id DESC', toEvent);
	},
});

import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import type {Delivery} from './delivery.ts';

export type IdentityOutcome = 'APPLIED' | 'IGNORED' | 'FAILED';

/** What became of an event, and in one sentence why. */
export type IdentityVerdict = {outcome: IdentityOutcome; reason: string};

type Row = {
	id: string;
	event_key: string;
	type: string;
	outcome: IdentityOutcome;
	reason: string;
	payload: unknown;
	deliveries: number;
	received_at: Date;
	processed_at: Date;
};

export type IdentityEvent = IdentityVerdict & {id: string; delivery: Delivery; json: ReturnType<typeof toJson>};

/** As an operator reads it, and as the ledger of the gateways is read: without the payload. */
const toJson = (row: Row) => ({
	id: row.id,
	eventKey: row.event_key,
	type: row.type,
	outcome: row.outcome,
	reason: row.reason,
	deliveries: row.deliveries,
	receivedAt: row.received_at,
	processedAt: row.processed_at,
});

const toEvent = (row: Row): IdentityEvent => ({
	id: row.id,
	outcome: row.outcome,
	reason: row.reason,
	delivery: {id: row.event_key, type: row.type, data: row.payload, at: null},
	json: toJson(row),
});

/** The statements on what the identity provider sent. It is the operator's, so no tenant is named. */
export const createIdentityEventStore = (db: Db) => ({
	/** Notes a verified delivery, or counts another one of an event that is known. FAILED until it is settled. */
	note: async ({id: eventKey, type, data}: Delivery, now: Date): Promise<IdentityEvent> => {
		const {rows} = await db.raw<{rows: Row[]}>(
			`INSERT INTO identity_events (id, event_key, type, outcome, reason, payload, received_at, processed_at)
			VALUES (:id, :eventKey, :type, 'FAILED', 'It was not applied to its end', CAST(:payload AS json), :now, :now)
			ON CONFLICT (event_key) DO UPDATE SET deliveries = identity_events.deliveries + 1
			RETURNING *`,
			{id: randomUUID(), eventKey, type: type.replaceAll('\0', ''), payload: JSON.stringify(data ?? null), now},
		);
		return toEvent(onlyRow(rows));
	},

	/** Writes down what became of it. What was applied stays so, whatever another delivery at once came to. */
	settle: async (id: string, {outcome, reason}: IdentityVerdict, now: Date): Promise<void> => {
		await db('identity_events')
			.where({id})
			.modify((query) => {
				if (outcome === 'FAILED') {
					query.whereNot({outcome: 'APPLIED'});
				}
			})
			.update({outcome, reason, processed_at: now});
	},

	find: async (id: string): Promise<IdentityEvent | null> => {
		const [row] = (await db('identity_events').where({id})) as Row[];
		return row === undefined ? null : toEvent(row);
	},

	list: ({page, limit, outcome}: PageQuery & {outcome?: IdentityOutcome}): Promise<Page<ReturnType<typeof toJson>>> =>
		readPage(
			db('identity_events').where(outcome === undefined ? {} : {outcome}),
			{page, limit},
			'received_at DESC, id DESC',
			toJson,
		),

	forgetOlderThan: (then: Date): Promise<number> => db('identity_events').where('received_at', '<', then).delete(),
});

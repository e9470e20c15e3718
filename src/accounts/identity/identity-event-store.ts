import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import type {Delivery, ProviderEvent} from './webhook-signature.ts';

export type IdentityOutcome = 'APPLIED' | 'IGNORED' | 'FAILED';

/** The outcome of an event, and in one sentence why. */
export type IdentityVerdict = {outcome: IdentityOutcome; reason: string};

/** As an operator reads it: without the payload. */
export type IdentityEventJson = {
	id: string;
	eventKey: string;
	type: string;
	outcome: IdentityOutcome;
	reason: string;
	deliveries: number;
	receivedAt: Date;
	processedAt: Date;
};

const columns: Columns<IdentityEventJson> = columnsOf(
	'id, event_key, type, outcome, reason, deliveries, received_at, processed_at',
);

type Row = IdentityEventJson & {payload: string | null};

export type IdentityEvent = IdentityVerdict & {id: string; event: ProviderEvent; json: IdentityEventJson};

const toEvent = ({payload, ...json}: Row): IdentityEvent => ({
	id: json.id,
	outcome: json.outcome,
	reason: json.reason,
	event: {
		id: json.eventKey,
		type: json.type,
		data: payload === null ? null : fieldsOf(JSON.parse(payload))['data'],
	},
	json,
});

/** The statements on the identity provider's events. They are the operator's, so no organization is named. */
export const createIdentityEventStore = (db: Db) => ({
	/**
	 * Notes a verified delivery, or counts another one of an event that is known. FAILED until it is settled.
	 * @param text as it was signed; null: not to be kept.
	 */
	note: async ({id: eventKey, type}: Delivery, text: string | null, now: Date): Promise<IdentityEvent> => {
		const {rows} = await db.raw<{rows: Row[]}>(
			`INSERT INTO identity_events (id, event_key, type, outcome, reason, payload, received_at, processed_at)
			VALUES (:id, :eventKey, :type, 'FAILED', 'It was not applied to its end', CAST(:text AS text), :now, :now)
			ON CONFLICT (event_key) DO UPDATE SET deliveries = identity_events.deliveries + 1
			RETURNING ${columns.sql('identity_events')}, payload`,
			{id: randomUUID(), eventKey, type: type.replaceAll('\0', ''), text, now},
		);
		return toEvent(onlyRow(rows));
	},

	/** Stores the outcome. An event that was applied stays so, whatever the outcome of a concurrent delivery. */
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
		const row: Row | undefined = await db('identity_events')
			.where({id})
			.first([...columns.list, 'payload']);
		return row === undefined ? null : toEvent(row);
	},

	list: ({page, limit, ...filter}: PageQuery & {outcome?: IdentityOutcome}): Promise<Page<IdentityEventJson>> =>
		readPage(db('identity_events').where(filter).select(columns.list), {page, limit}, descending('received_at', 'id')),
});

/** The statements on deliveries of the identity provider, by their `svix-id`. */
export const createDeliveryStore = (db: Db) => ({
	isKnown: async (id: string): Promise<boolean> =>
		(await db('webhook_deliveries').where({provider: 'identity', delivery_id: id}).select('provider')).length > 0,

	/** @returns whether this is the first time. It counts once the transaction is committed. */
	add: async (id: string, now: Date): Promise<boolean> => {
		const added = await db('webhook_deliveries')
			.insert({provider: 'identity', delivery_id: id, received_at: now})
			.onConflict()
			.ignore()
			.returning('delivery_id');
		return added.length > 0;
	},

	/** Lets a delivery be applied once more. */
	forget: async (id: string): Promise<void> => {
		await db('webhook_deliveries').where({provider: 'identity', delivery_id: id}).delete();
	},
});

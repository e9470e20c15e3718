import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import type {ProviderEvent, SignedEvent} from './verify-provider-event.ts';

export type ProviderEventOutcome = 'APPLIED' | 'IGNORED' | 'FAILED';

/** The outcome of an event, and its reason in one sentence. */
export type ProviderEventResult = {outcome: ProviderEventOutcome; reason: string};

/** As an operator reads it: without the payload. */
export type ProviderEventJson = {
	id: string;
	eventKey: string;
	type: string;
	outcome: ProviderEventOutcome;
	reason: string;
	deliveries: number;
	receivedAt: Date;
	processedAt: Date;
};

const columns: Columns<ProviderEventJson> = columnsOf(
	'id, event_key, type, outcome, reason, deliveries, received_at, processed_at',
);

/** As it is stored; `payload` null: not stored. */
export type RecordedEvent = ProviderEventJson & {payload: string | null};

export const providerEventJson = ({payload, ...event}: RecordedEvent): ProviderEventJson => event;

/** The event as the provider sent it. */
export const providerEventOf = ({eventKey: id, type, payload}: RecordedEvent): ProviderEvent => ({
	id,
	type,
	data: payload === null ? null : fieldsOf(JSON.parse(payload))['data'],
});

/** The statements on the identity provider's events. They are the operator's, so no organization is named. */
export const createProviderEventStore = (db: Db) => ({
	/**
	 * Records a verified event, or counts another delivery of a known one. FAILED until it is settled.
	 * @param text as it was signed; null: not stored.
	 */
	note: async ({id: eventKey, type}: SignedEvent, text: string | null, now: Date): Promise<RecordedEvent> => {
		const rows = await run<RecordedEvent>(
			db,
			sql`INSERT INTO identity_events (id, event_key, type, outcome, reason, payload, received_at, processed_at)
			VALUES (${randomUUID()}, ${eventKey}, ${type.replaceAll('\0', '')}, 'FAILED', 'It was not applied to its end',
				${text}::text, ${now}, ${now})
			ON CONFLICT (event_key) DO UPDATE SET deliveries = identity_events.deliveries + 1
			RETURNING ${columns.of('identity_events')}, payload`,
		);
		return onlyRow(rows);
	},

	/** Stores the outcome. An event that was applied stays so, whatever the outcome of a concurrent delivery. */
	settle: async (id: string, {outcome, reason}: ProviderEventResult, now: Date): Promise<void> => {
		await db('identity_events')
			.where({id})
			.modify((query) => {
				if (outcome === 'FAILED') {
					query.whereNot({outcome: 'APPLIED'});
				}
			})
			.update({outcome, reason, processed_at: now});
	},

	find: async (id: string): Promise<RecordedEvent | null> =>
		(await db('identity_events')
			.where({id})
			.first([...columns.list, 'payload'])) ?? null,

	list: ({page, limit, ...filter}: PageQuery & {outcome?: ProviderEventOutcome}): Promise<Page<ProviderEventJson>> =>
		readPage(db('identity_events').where(filter).select(columns.list), {page, limit}, descending('received_at', 'id')),
});

/** The statements on the ids of applied events, their `svix-id`. */
export const createAppliedEventStore = (db: Db) => ({
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

	/** Lets an event be applied once more. */
	forget: async (id: string): Promise<void> => {
		await db('webhook_deliveries').where({provider: 'identity', delivery_id: id}).delete();
	},
});

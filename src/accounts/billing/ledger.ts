import type {Clock} from '../../platform/clock.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {createGatewayEventStore, type Decision, type GatewayEvent, type IncomingEvent} from './gateway-event-store.ts';

/** Applies an event, in the transaction that records it: neither is ever there without the other. */
export type Apply = (trx: Db) => Promise<Decision>;

/** Applies nothing: the outcome is known already. */
export const decision =
	(outcome: Decision['outcome'], reason: string): Apply =>
	async () => ({outcome, reason});

/**
 * A delivery of the gateway, or a replay of a recorded event. `onlyUnmatched`: skip the replay if the event is not
 * UNMATCHED any more, because another process has applied it.
 */
export type LedgerEntry = {delivery: IncomingEvent} | {replay: GatewayEvent; onlyUnmatched: boolean};

/** SQLSTATE class 22: a value that no retry makes storable, such as a text with U+0000. */
const valueFault = (error: unknown): string | null => {
	const {code} = (error ?? {}) as {code?: unknown};
	return typeof code === 'string' && code.startsWith('22') ? code : null;
};

/**
 * Records a verified event and applies it (contract/billing 9). A failure rolls both back: the gateway's next
 * delivery starts afresh. A repeated delivery is applied only if the event was UNMATCHED; an operator's replay always.
 * An event with a value that cannot be stored changes nothing and is in REVIEW: every further delivery would fail too.
 */
export const recordEvent = (
	{db, clock}: {db: Db; clock: Clock},
	entry: LedgerEntry,
	apply: Apply,
): Promise<GatewayEvent> =>
	inTransaction(db, async (trx) => {
		const store = createGatewayEventStore(trx);
		const {event, isNew} =
			'delivery' in entry
				? await store.record(entry.delivery, clock.now())
				: {event: await store.lock(entry.replay.id), isNew: !entry.onlyUnmatched};
		if (!isNew && event.outcome !== 'UNMATCHED') {
			return event;
		}

		return inTransaction(trx, async (inner) =>
			createGatewayEventStore(inner).settle(event.id, await apply(inner), clock.now()),
		).catch((error: unknown) => {
			const code = valueFault(error);
			if (code === null) {
				throw error;
			}

			const reason = `The database refused a value of the event (SQLSTATE ${code}); nothing was changed.`;
			return store.settle(event.id, {outcome: 'REVIEW', reason}, clock.now());
		});
	});

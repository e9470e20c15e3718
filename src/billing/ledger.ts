import {type Db, inTransaction} from '../db/db.ts';
import {gatewayEventNotFound} from '../errors.ts';
import type {Services} from '../services.ts';
import {createGatewayEventStore, type GatewayEvent, type IncomingEvent, type Verdict} from './gateway-event-store.ts';

/** Applies an event in the transaction that notes it, so that neither is ever there without the other. */
export type Apply = (trx: Db) => Promise<Verdict>;

/**
 * Notes a verified event and applies it once (`facts/providers.md` 5.5). What fails rolls the note back with it, so
 * that the gateway's next delivery finds nothing done. A repetition changes nothing, unless nothing matched before.
 */
export const receiveEvent = ({db, clock}: Services, event: IncomingEvent, apply: Apply): Promise<GatewayEvent> =>
	inTransaction(db, async (trx) => {
		const store = createGatewayEventStore(trx);
		const noted = await store.note(event, clock.now());
		return noted.isNew || noted.event.outcome === 'UNMATCHED'
			? store.settle(noted.event.id, await apply(trx), clock.now())
			: noted.event;
	});

/** Applies an event of the ledger again, whatever became of it before. */
export const reapplyEvent = ({db, clock}: Services, {id}: {id: string}, apply: Apply): Promise<GatewayEvent> =>
	inTransaction(db, async (trx) => createGatewayEventStore(trx).settle(id, await apply(trx), clock.now()));

/** @throws 404. */
export const requireEvent = async ({db}: Services, id: string): Promise<GatewayEvent> => {
	const event = await createGatewayEventStore(db).find(id);
	if (event === null) {
		throw gatewayEventNotFound();
	}

	return event;
};

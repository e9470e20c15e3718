import type {Clock} from '../clock.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {gatewayEventNotFound} from '../errors.ts';
import {createGatewayEventStore, type GatewayEvent, type IncomingEvent, type Verdict} from './gateway-event-store.ts';

type Deps = {db: Db; clock: Clock};

/** Applies an event in the transaction that notes it, so that neither is ever there without the other. */
export type Apply = (trx: Db) => Promise<Verdict>;

/**
 * Notes a verified event and applies it once (contract/billing 9). What fails rolls the note back with it, so
 * that the gateway's next delivery finds nothing done. A repetition changes nothing, unless nothing matched before.
 */
export const receiveEvent = ({db, clock}: Deps, event: IncomingEvent, apply: Apply): Promise<GatewayEvent> =>
	inTransaction(db, async (trx) => {
		const store = createGatewayEventStore(trx);
		const noted = await store.note(event, clock.now());
		return noted.isNew || noted.event.outcome === 'UNMATCHED'
			? store.settle(noted.event.id, await apply(trx), clock.now())
			: noted.event;
	});

/**
 * Counts a delivery of an event that was applied before, so that nothing is asked of the gateway for it.
 * @returns null for an event that is new, or that nothing matched yet.
 */
export const countRepetition = ({db}: Pick<Deps, 'db'>, event: IncomingEvent): Promise<GatewayEvent | null> =>
	createGatewayEventStore(db).countRepetition(event);

/**
 * Applies an event of the ledger again, whatever became of it before.
 * @param only UNMATCHED: not where somebody else has applied it meanwhile.
 */
export const reapplyEvent = (
	{db, clock}: Deps,
	{id}: {id: string},
	apply: Apply,
	only: 'UNMATCHED' | null = null,
): Promise<GatewayEvent> =>
	inTransaction(db, async (trx) => {
		const store = createGatewayEventStore(trx);
		const event = await store.lock(id);
		return only !== null && event.outcome !== only ? event : store.settle(id, await apply(trx), clock.now());
	});

/** @throws 404. */
export const requireEvent = async ({db}: Pick<Deps, 'db'>, id: string): Promise<GatewayEvent> => {
	const event = await createGatewayEventStore(db).find(id);
	if (event === null) {
		throw gatewayEventNotFound();
	}

	return event;
};

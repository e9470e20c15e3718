import {createBatches} from '../db/batches.ts';
import type {Db} from '../db/db.ts';
import {type AppEvent, storeEvent, storeEvents} from './sdk-store.ts';

/** Stores apps' events. */
export type EventWriter = {
	/** Resolves when the event is committed. @throws 404 for an unknown device, or a link of another organization. */
	store(event: AppEvent): Promise<unknown>;
};

/** Most events per statement, of up to 10 KiB each. */
const MAX_BATCH = 200;

/** Group commit: concurrent events share a statement and its commit. */
export const createEventWriter = (db: Db): EventWriter => ({
	store: createBatches<AppEvent, true>({
		most: MAX_BATCH,
		many: async (events) => {
			const stored = await storeEvents(db, events);
			return events.map(({id}) => (stored.has(id) ? true : undefined));
		},
		one: async (event) => {
			await storeEvent(db, event);
			return true;
		},
	}),
});

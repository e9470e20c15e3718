import {createBatches} from '../db/batches.ts';
import type {Db} from '../db/db.ts';
import {type AppEvent, storeEvent, storeEvents} from './sdk-store.ts';

/** Stores what apps tell. */
export type EventWriter = {
	/**
	 * Resolves when the event is on the disk. @throws 404 for an unknown device, or a link that is not the organization's.
	 */
	store(event: AppEvent): Promise<unknown>;
};

/** Most events of one statement, of up to 10 KiB each. */
const MAX_BATCH = 200;

/** Events that arrive together share a statement and its commit. */
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

import {createBatches} from '../../db/batches.ts';
import type {Entry} from './entry.ts';
import {type Stores, storeClicks} from './entry-store.ts';
import {sectionOf} from './section.ts';

/**
 * Writes clicks that the journal cannot take, in batches: each holds the clicks that arrived during the previous write.
 * It uses one connection, so that a full disk does not exhaust the pool.
 * @returns a promise that resolves when the click is in the tables.
 */
export const createDirectWriter = (stores: Stores): ((entry: Entry) => Promise<unknown>) =>
	createBatches<Entry, true>({
		many: async (entries) => {
			await storeClicks(stores, [sectionOf(entries)], null);
			return entries.map(() => true);
		},
	});

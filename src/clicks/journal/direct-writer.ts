import {createBatches} from '../../db/batches.ts';
import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {Entry} from './entry.ts';
import {monthsOf, type OnRefused, storeSections} from './entry-store.ts';
import type {RawClicks} from './raw-clicks.ts';
import {sectionOf} from './section.ts';

/**
 * Writes clicks that the journal cannot take, in batches: each holds the clicks that arrived during the previous write.
 * It uses one connection, so that a full disk does not exhaust the pool.
 * @returns a promise that resolves when the click is in the tables.
 */
export const createDirectWriter = ({
	db,
	clickPartitions,
	raw = null,
	onRefused,
}: {
	db: Db;
	clickPartitions: ClickPartitions;
	/** The store of raw clicks; null: the table `clicks`. */
	raw?: RawClicks | null;
	onRefused: OnRefused;
}): ((entry: Entry) => Promise<unknown>) =>
	createBatches<Entry, true>({
		many: async (entries) => {
			const sections = [sectionOf(entries)];
			for (const month of raw === null ? monthsOf(sections) : []) {
				await clickPartitions.ensure(month);
			}

			await storeSections(db, sections, raw, onRefused);
			return entries.map(() => true);
		},
	});

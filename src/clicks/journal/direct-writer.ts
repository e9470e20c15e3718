import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {Entry} from './entry.ts';
import {monthsOf, type OnRefused, storeSections} from './entry-store.ts';
import {sectionOf} from './section.ts';

/**
 * Writes clicks that the journal cannot take, in batches: each holds the clicks that arrived during the previous write.
 * It uses one connection, so that a full disk does not exhaust the pool.
 * @returns a promise that resolves when the click is in the tables.
 */
export const createDirectWriter = ({
	db,
	clickPartitions,
	onRefused,
}: {
	db: Db;
	clickPartitions: ClickPartitions;
	onRefused: OnRefused;
}): ((entry: Entry) => Promise<void>) => {
	let waiting: Entry[] = [];
	let running: Promise<void> = Promise.resolve();
	let next: Promise<void> | null = null;

	const writeWaiting = async (): Promise<void> => {
		const sections = [sectionOf(waiting)];
		waiting = [];
		next = null;
		for (const month of monthsOf(sections)) {
			await clickPartitions.ensure(month);
		}

		await storeSections(db, sections, onRefused);
	};

	return (entry) => {
		waiting.push(entry);
		if (next === null) {
			next = running.catch(() => {}).then(writeWaiting);
			running = next;
		}

		return next;
	};
};

import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import {decodeEntries} from './entry.ts';
import {monthsOf, type OnRefused, storeEntries} from './entry-store.ts';

/**
 * Writes clicks that no journal can take, each with all that came while the ones before it were written: on one
 * connection, so that a full disk does not take those of everything else.
 * @returns what resolves when the lines of a click are in the tables.
 */
export const createDirectWriter = ({
	db,
	clickPartitions,
	onRefused,
}: {
	db: Db;
	clickPartitions: ClickPartitions;
	onRefused: OnRefused;
}): ((lines: string) => Promise<void>) => {
	let waiting = '';
	let running: Promise<void> = Promise.resolve();
	let next: Promise<void> | null = null;

	const writeWaiting = async (): Promise<void> => {
		const entries = decodeEntries(waiting);
		waiting = '';
		next = null;
		for (const month of monthsOf(entries)) {
			await clickPartitions.ensure(month);
		}

		await storeEntries(db, entries, onRefused);
	};

	return (lines) => {
		waiting += lines;
		if (next === null) {
			next = running.catch(() => {}).then(writeWaiting);
			running = next;
		}

		return next;
	};
};

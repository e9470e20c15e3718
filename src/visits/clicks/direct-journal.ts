import type {ClickJournal} from './journal/click-journal.ts';
import {createDirectWriter} from './journal/cursors.ts';
import {encodeEntry} from './journal/entry.ts';
import type {Stores} from './journal/store.ts';

/**
 * Replaces the journal and writes clicks immediately, such as into a transaction.
 * @param onFailure is called with the error of a click that was not written.
 */
export const directJournal = ({
	db,
	clickPartitions,
	onFailure,
}: Pick<Stores, 'db' | 'clickPartitions'> & {onFailure: (error: unknown) => void}): ClickJournal => {
	const write = createDirectWriter({
		db,
		clickPartitions,
		clickHouse: null,
		onRefused: (_, error) => {
			throw error;
		},
	});
	return {
		record: (click, at, done) => {
			write(encodeEntry(click, at)).then(
				() => done(true),
				(error: unknown) => {
					onFailure(error);
					done(false);
				},
			);
		},
		flushed: async () => {},
		isClickHouseDown: () => false,
		start: async () => {},
		figures: () => ({waitingBytes: 0, maxBytes: 0, oldestSeconds: 0, drained: 0, direct: 0, lost: 0, refused: 0}),
		close: async () => {},
	};
};

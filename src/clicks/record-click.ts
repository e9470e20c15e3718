import type {Db} from '../db/db.ts';
import type {ClickJournal} from './journal/click-journal.ts';
import {encodeEntry} from './journal/entry.ts';
import {createDirectWriter, type Stores} from './journal/entry-store.ts';

/**
 * Replaces the journal and writes clicks immediately, such as into a transaction.
 * @param onFailure hears why a click was not written.
 */
export const directly = ({
	db,
	clickPartitions,
	onFailure,
}: Pick<Stores, 'db' | 'clickPartitions'> & {onFailure: (error: unknown) => void}): ClickJournal => {
	const write = createDirectWriter({
		db,
		clickPartitions,
		raw: null,
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
		settled: async () => {},
		settledInStore: async () => {},
		settledHere: async () => {},
		isStoreAway: () => false,
		start: async () => {},
		figures: () => ({waitingBytes: 0, maxBytes: 0, oldestSeconds: 0, drained: 0, direct: 0, lost: 0, refused: 0}),
		close: async () => {},
	};
};

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Db, organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};

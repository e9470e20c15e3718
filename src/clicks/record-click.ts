import type {Clock} from '../clock.ts';
import type {Db} from '../db/db.ts';
import type {ClickPartitions} from './click-partitions.ts';
import type {ClickJournal} from './journal/click-journal.ts';
import {createDirectWriter} from './journal/direct-writer.ts';
import {encodeEntry} from './journal/entry.ts';

/** Replaces the journal and writes clicks immediately, such as into a transaction. */
export const directly = ({
	db,
	clickPartitions,
	clock,
}: {
	db: Db;
	clickPartitions: ClickPartitions;
	clock: Clock;
}): ClickJournal => {
	const write = createDirectWriter({
		db,
		clickPartitions,
		onRefused: (_, error) => {
			throw error;
		},
	});
	return {
		record: async (click) => {
			await write(encodeEntry(click, clock.now()));
			return true;
		},
		settled: async () => {},
		settledHere: async () => {},
		start: async () => {},
		figures: () => ({waitingBytes: 0, oldestSeconds: 0, drained: 0, direct: 0, lost: 0, refused: 0}),
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

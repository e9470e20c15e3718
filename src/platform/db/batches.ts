import {setTimeout as delay} from 'node:timers/promises';
import {isConnectionFault} from '../connection-fault.ts';

type Options<Item, Result> = {
	/** Maximum items of a batch. */
	max?: number;
	/** Maximum batches at once (default: 1). */
	atOnce?: number;
	/** How long a batch waits for further items; without it a single item is processed at once. */
	waitMs?: number;
	/**
	 * Processes all items in one statement.
	 * @returns the result of each item in order; undefined for omitted items. @throws if none was processed.
	 */
	many: (items: readonly Item[]) => Promise<ReadonlyArray<Result | undefined>>;
	/** Processes one omitted item, or each item of a failed batch, and throws its own error (default: all fail). */
	one?: (item: Item) => Promise<Result>;
};

type Waiting<Item, Result> = {item: Item; done: (result: Result) => void; fail: (error: unknown) => void};

/**
 * Group commit: concurrent items share a statement and its commit. Items that arrive during one are in the next.
 * Without `waitMs` there is no timer, and a single item is processed at once. An invalid item fails alone.
 */
export const createBatches = <Item, Result>({
	max = Number.POSITIVE_INFINITY,
	atOnce = 1,
	waitMs,
	many,
	one,
}: Options<Item, Result>) => {
	let waiting: Array<Waiting<Item, Result>> = [];
	let working = 0;

	const work = async (batch: ReadonlyArray<Waiting<Item, Result>>): Promise<void> => {
		let results: ReadonlyArray<Result | undefined>;
		try {
			results = await many(batch.map(({item}) => item));
		} catch (error) {
			if (one === undefined || isConnectionFault(error)) {
				for (const {fail} of batch) {
					fail(error);
				}

				return;
			}

			results = [];
		}

		const left = batch.filter(({done}, index) => {
			const result = results[index];
			if (result !== undefined) {
				done(result);
			}

			return result === undefined;
		});
		await Promise.all(
			left.map(({item, done, fail}) => one?.(item).then(done, fail) ?? fail(new Error('a batch omitted an item'))),
		);
	};

	const workAll = async (): Promise<void> => {
		while (waiting.length > 0) {
			if (waitMs !== undefined) {
				await delay(waitMs);
			}

			const batch = waiting.slice(0, max);
			waiting = waiting.slice(max);
			await work(batch);
		}

		working -= 1;
	};

	return (item: Item): Promise<Result> =>
		new Promise((resolve, reject) => {
			waiting.push({item, done: resolve, fail: reject});
			// A batch that has not begun yet takes this item, too.
			if (working < atOnce && waiting.length === 1) {
				working += 1;
				// After the requests that have already arrived.
				setImmediate(() => void workAll());
			}
		});
};

const MAX_ROWS = 1000;

/** Repeats a write of at most `limit` rows until it finds fewer. @returns the number of rows. */
export const repeatBatches = async (write: (limit: number) => Promise<number>): Promise<number> => {
	let total = 0;
	for (;;) {
		const count = await write(MAX_ROWS);
		total += count;
		if (count < MAX_ROWS) {
			return total;
		}
	}
};

/** The rows of a list, `size` at a time, in the order of a key. @param read the next rows after one; null: the first ones. */
export async function* pagesByKey<Row>(
	size: number,
	read: (after: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
	let after: Row | null = null;
	for (;;) {
		const page: Row[] = await read(after);
		yield page;
		if (page.length < size) {
			return;
		}

		after = page.at(-1) ?? null;
	}
}

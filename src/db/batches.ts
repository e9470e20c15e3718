import {isConnectionFault} from './db.ts';

type Given<Item, Result> = {
	/** Most items of one batch. */
	most: number;
	/**
	 * Does all of them with one statement. @returns for each in its place what came of it; undefined where that one was
	 * left out. @throws where none was done.
	 */
	many: (items: readonly Item[]) => Promise<ReadonlyArray<Result | undefined>>;
	/** Does one that was left out, or where none was done; what it is refused for, it is told here. */
	one: (item: Item) => Promise<Result>;
};

type Waiting<Item, Result> = {item: Item; done: (result: Result) => void; fail: (error: unknown) => void};

/**
 * Has work that arrives together share a statement and its commit: what comes while one is under way goes with the next.
 * Nobody waits for a timer, and what comes by itself is done at once. What speaks against one fails no other.
 */
export const createBatches = <Item, Result>({most, many, one}: Given<Item, Result>) => {
	let waiting: Array<Waiting<Item, Result>> = [];
	let isWorking = false;

	const alone = ({item, done, fail}: Waiting<Item, Result>): Promise<void> => one(item).then(done, fail);

	const work = async (batch: ReadonlyArray<Waiting<Item, Result>>): Promise<void> => {
		let results: ReadonlyArray<Result | undefined>;
		try {
			results = await many(batch.map(({item}) => item));
		} catch (error) {
			if (isConnectionFault(error)) {
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
		await Promise.all(left.map(alone));
	};

	const workAll = async (): Promise<void> => {
		while (waiting.length > 0) {
			const batch = waiting.slice(0, most);
			waiting = waiting.slice(most);
			await work(batch);
		}

		isWorking = false;
	};

	return (item: Item): Promise<Result> =>
		new Promise((resolve, reject) => {
			waiting.push({item, done: resolve, fail: reject});
			if (!isWorking) {
				isWorking = true;
				// After the requests that have arrived at this moment.
				setImmediate(() => void workAll());
			}
		});
};

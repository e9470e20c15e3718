import test from 'ava';
import {createBatches} from '../src/db/batches.ts';

const refused = new Error('refused');

/** Batches whose `many` refuses negative numbers, and leaves out zeros. */
const createRun = (one?: (item: number) => Promise<number>) => {
	const batches: number[][] = [];
	const add = createBatches<number, number>({
		many: async (items) => {
			batches.push([...items]);
			if (items.some((item) => item < 0)) {
				throw refused;
			}

			return items.map((item) => (item === 0 ? undefined : item * 10));
		},
		...(one === undefined ? {} : {one}),
	});
	return {batches, results: (...items: number[]) => Promise.allSettled(items.map(add))};
};

const fulfilled = (value: number) => ({status: 'fulfilled' as const, value});
const rejected = (reason: unknown) => ({status: 'rejected' as const, reason});

test('items that arrive together are one batch, in order', async (t) => {
	const {batches, results} = createRun();
	t.deepEqual(await results(1, 2, 3), [fulfilled(10), fulfilled(20), fulfilled(30)]);
	t.deepEqual(batches, [[1, 2, 3]]);
});

test('an item that the batch refuses fails alone, and one that it leaves out is processed by itself', async (t) => {
	const {results} = createRun(async (item) => {
		if (item < 0) {
			throw refused;
		}

		return item + 100;
	});
	t.deepEqual(await results(1, -2, 3), [fulfilled(101), rejected(refused), fulfilled(103)]);
	t.deepEqual(await results(1, 0), [fulfilled(10), fulfilled(100)]);
});

test('without a way to process one item, a batch fails as a whole and is tried once', async (t) => {
	const {batches, results} = createRun();
	t.deepEqual(await results(1, -2), [rejected(refused), rejected(refused)]);
	t.deepEqual(batches, [[1, -2]]);
	const [leftOut] = await results(0);
	t.is(leftOut?.status, 'rejected');
});

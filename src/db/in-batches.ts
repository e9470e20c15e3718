import type {Db} from './db.ts';

const BATCH = 1000;

/**
 * Repeats a statement that handles a batch until one finds less than that. Its bindings are a time and the batch's size.
 * @returns how many rows there were.
 */
export const inBatches = async (db: Db, sql: string, before: Date): Promise<number> => {
	let total = 0;
	for (;;) {
		const {rowCount} = await db.raw<{rowCount: number}>(sql, [before, BATCH]);
		total += rowCount;
		if (rowCount < BATCH) {
			return total;
		}
	}
};

import type {Db} from './db.ts';

const BATCH = 1000;

/**
 * Repeats a statement for one batch until it affects fewer rows than the batch's size. Its bindings are a time and the
 * size.
 * @returns the number of rows.
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

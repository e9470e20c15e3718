import type {Db} from './db.ts';
import {execute, type Sql} from './sql.ts';

const MAX_ROWS = 1000;

type Batch = (before: Date, maxRows: number) => Sql;

/** Repeats a statement until it affects fewer rows than the batch's size. @returns the number of rows. */
export const inBatches = async (db: Db, statement: Batch | string, before: Date): Promise<number> => {
	let total = 0;
	for (;;) {
		const count =
			typeof statement === 'string'
				? (await db.raw<{rowCount: number}>(statement, [before, MAX_ROWS])).rowCount
				: await execute(db, statement(before, MAX_ROWS));
		total += count;
		if (count < MAX_ROWS) {
			return total;
		}
	}
};

import type {Db} from './db.ts';
import {execute, type Sql} from './sql.ts';

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

/** Repeats a statement of a time and a number of rows. @returns the number of rows that it wrote. */
export const inBatches = (
	db: Db,
	statement: ((before: Date, maxRows: number) => Sql) | string,
	before: Date,
): Promise<number> =>
	repeatBatches(async (limit) =>
		typeof statement === 'string'
			? (await db.raw<{rowCount: number}>(statement, [before, limit])).rowCount
			: execute(db, statement(before, limit)),
	);

import type {Db} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import {contextColumns, contextValues} from './click-context.ts';

const keep: Prepared = {
	name: 'keep contexts of clicks',
	text: `INSERT INTO click_contexts (id, ${contextColumns.join(', ')})
		SELECT * FROM unnest($1::bigint[], $2::date[], ${contextColumns
			.slice(1)
			.map((_, index) => `$${index + 3}::text[]`)
			.join(', ')})
		ON CONFLICT DO NOTHING`,
};

/** Keeps contexts that are not there yet. @param contexts ids, and rows of COPY without them (`contextRow`). */
export const keepContexts = async (trx: Db, contexts: Array<[id: string, row: string]>): Promise<void> => {
	// In one order everywhere, so that no two transactions wait for each other.
	const sorted = contexts.toSorted(([one], [other]) => (one < other ? -1 : 1));
	await runPrepared(trx, keep, [sorted.map(([id]) => id), ...contextValues(sorted.map(([, row]) => row))]);
};

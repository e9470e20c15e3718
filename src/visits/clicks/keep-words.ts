import {readCopyText} from '../../platform/db/copy-in.ts';
import type {Db} from '../../platform/db/db.ts';
import {runPrepared} from '../../platform/db/prepared.ts';

/** Keeps rows of `createClickWords` that are not there yet. @param rows ids, and rows of COPY without them (`rowOf`). */
export const keepWords = async (
	trx: Db,
	{table, columns}: {table: string; columns: string[]},
	rows: Array<[id: string, row: string]>,
): Promise<void> => {
	const all = ['month', ...columns];
	// In one order everywhere, so that no two transactions wait for each other.
	const sorted = rows.toSorted(([one], [other]) => (one < other ? -1 : 1));
	const records = sorted.map(([id, row]) => {
		const values = row.split('\t').map((value, index) => [all[index], readCopyText(value)]);
		return {id, ...Object.fromEntries(values)};
	});
	const text = `INSERT INTO ${table} (id, ${all.join(', ')}) SELECT id, ${all.join(', ')}
		FROM json_populate_recordset(CAST(NULL AS ${table}), $1::json) ON CONFLICT DO NOTHING`;
	await runPrepared(trx, {name: `keep ${table}`, text}, [JSON.stringify(records)]);
};

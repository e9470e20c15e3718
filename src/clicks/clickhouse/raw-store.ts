import type {Db} from '../../db/db.ts';
import type {RawClicks} from '../journal/entry-store.ts';
import {clickRows, createClickTable, intoClicks} from './click-table.ts';
import type {ClickHouse} from './clickhouse.ts';

/**
 * Held shared while a batch is in ClickHouse and its transaction is not committed, so that whoever holds it alone sees
 * both or neither. The number only has to differ from our other advisory locks.
 */
export const BATCH_LOCK = 7_201_006;

/** Brings batches of clicks into ClickHouse, and notes them for the live stream. */
export const createRawStore = (clickHouse: ClickHouse): RawClicks => {
	let table: Promise<void> | null = null;

	return {
		store: async (trx: Db, batch, sections) => {
			table ??= createClickTable(clickHouse);
			await table.catch((error: unknown) => {
				table = null;
				throw error;
			});
			await trx.raw('SELECT pg_advisory_xact_lock_shared(?)', [BATCH_LOCK]);
			const {rows, oldest} = clickRows(sections, batch);
			await clickHouse.insert(intoClicks, rows);
			await trx('click_batches').insert({id: batch, oldest});
		},
	};
};

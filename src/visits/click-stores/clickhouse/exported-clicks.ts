import {type Db, inTransaction} from '../../../platform/db/db.ts';
import type {Snapshot} from '../../../platform/db/new-rows.ts';
import {execute, run, type Sql, sql} from '../../../platform/db/sql.ts';
import type {ExportedRange} from '../../reports/click-store.ts';
import {BATCH_LOCK, NO_BATCH} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {fullRows, type StoredClick, storedColumns} from './stored-clicks.ts';
import {readBatches} from './stream.ts';

const BATCHES_AT_ONCE = 50;
const PAGE = 2000;

/**
 * The batches of a list that `upTo` does not see. One that PostgreSQL does not know is old, or its transaction is in
 * flight: the exclusive lock waits for that transaction, and the batches are read again.
 */
const laterBatches = async (db: Db, ids: readonly string[], upTo: Snapshot): Promise<Set<string>> => {
	const read = async (on: Db): Promise<Map<string, boolean>> => {
		const rows = await run<{id: string; isLater: boolean}>(
			on,
			sql`SELECT id, NOT pg_visible_in_snapshot(writer, ${upTo}::pg_snapshot) AS "isLater"
			FROM click_batches WHERE id = ANY (${ids}::uuid[])`,
		);
		return new Map(rows.map(({id, isLater}) => [id, isLater]));
	};
	let known = await read(db);
	if (ids.some((id) => id !== NO_BATCH && !known.has(id))) {
		known = await inTransaction(db, async (lock) => {
			await execute(lock, sql`SELECT pg_advisory_xact_lock(${BATCH_LOCK})`);
			return read(lock);
		});
	}

	return new Set([...known].flatMap(([id, isLater]) => (isLater ? id : [])));
};

/** All clicks of an organization, day by day and in the order of time. */
async function* allClicks(db: Db, clickHouse: ClickHouse, organizationId: string, upTo: Snapshot) {
	const own = `organization_id = ${literal(organizationId)}`;
	const isLater = new Map<string, boolean>();
	const days = await clickHouse.select<{day: number}>(`SELECT DISTINCT day FROM clicks WHERE ${own} ORDER BY day`);
	for (const {day} of days) {
		let after = '';
		for (;;) {
			const page = await clickHouse.select<StoredClick>(
				`SELECT ${storedColumns} FROM clicks FINAL WHERE ${own} AND day = ${literal(day)} ${after}
				ORDER BY occurred_at, id LIMIT ${literal(PAGE)}`,
			);
			const unknown = [...new Set(page.map(({batch}) => batch))].filter((batch) => !isLater.has(batch));
			const later = unknown.length === 0 ? new Set<string>() : await laterBatches(db, unknown, upTo);
			for (const batch of unknown) {
				isLater.set(batch, later.has(batch));
			}

			yield page.filter(({batch}) => isLater.get(batch) === false);
			const last = page.at(-1);
			if (last === undefined || page.length < PAGE) {
				break;
			}

			after = `AND (occurred_at, id) > (${literal(last.occurred_at)}, ${literal(last.id)})`;
		}
	}
}

/** The clicks of an organization whose batches are between two snapshots, for exports (contract/reports 8). */
export const createExportedClicks = (
	db: Db,
	clickHouse: ClickHouse,
	/** Waits until ClickHouse has the clicks of this machine's answers. */
	current: (mentioned: string[]) => Promise<void>,
) =>
	async function* (trx: Db, {organizationId, from, upTo}: ExportedRange): AsyncGenerator<Sql> {
		await current([organizationId]);
		if (from === null) {
			for await (const page of allClicks(db, clickHouse, organizationId, upTo)) {
				yield fullRows(page);
			}

			return;
		}

		const batches = await readBatches(trx, {from, upTo});
		for (let first = 0; first < batches.length; first += BATCHES_AT_ONCE) {
			const ids = batches.slice(first, first + BATCHES_AT_ONCE).map(({id}) => literal(id));
			yield fullRows(
				await clickHouse.select<StoredClick>(`SELECT ${storedColumns} FROM clicks FINAL
					PREWHERE batch IN (${ids.join(', ')}) WHERE organization_id = ${literal(organizationId)}`),
			);
		}
	};

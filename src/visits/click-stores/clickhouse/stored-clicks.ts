import {pagesByKey} from '../../../platform/db/batches.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {type Snapshot, type SnapshotRange, writtenBetween} from '../../../platform/db/new-rows.ts';
import {execute, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {joinSharedValues, sharedColumns} from '../../clicks/click-sql.ts';
import type {ExportedRange} from '../../reports/click-store.ts';
import {BATCH_LOCK, dayOf, NO_BATCH} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';

/** A row of ClickHouse without the counted values. Numbers that do not fit into doubles are texts. */
export type StoredClick = {
	organization_id: string;
	link_id: string;
	occurred_at: number;
	id: string;
	version: number;
	batch: string;
	context_id: string | null;
	campaign_id: string | null;
	is_person: number;
	referrer_host: string | null;
};

/** The columns of `StoredClick`. */
export const storedColumns =
	'organization_id, link_id, occurred_at, id, version, batch, toString(context_id) AS context_id, toString(campaign_id) AS campaign_id, is_person, referrer_host';

/** The key of a click in ClickHouse; `at` has microseconds. */
type StoredKey = {organizationId: string; linkId: string; at: string; id: string};

/** Keys of clicks in PostgreSQL. @param rows a SELECT of `click_id`, `organization_id`, `link_id` and `created_at`. */
export const readKeys = (db: Db, rows: Sql): Promise<StoredKey[]> =>
	run(
		db,
		sql`SELECT organization_id AS "organizationId", link_id AS "linkId", click_id AS id,
			CAST(CAST(extract(epoch FROM created_at) * 1000000 AS bigint) AS text) AS at
		FROM (${rows}) AS keys`,
	);

/** A condition for clicks of keys. It uses the table's key, so few rows are read. */
const hasKey = (keys: readonly StoredKey[]): string =>
	`(organization_id, day, link_id, occurred_at, id) IN (${keys
		.map(
			({organizationId, linkId, at, id}) =>
				`(${literal(organizationId)}, ${literal(dayOf(Number(at)))}, ${literal(linkId)}, ${literal(Number(at))}, ${literal(id)})`,
		)
		.join(', ')})`;

const KEYS_AT_ONCE = 1000;

export const readByKeys = async (clickHouse: ClickHouse, keys: readonly StoredKey[]): Promise<StoredClick[]> => {
	const found: StoredClick[] = [];
	for (let first = 0; first < keys.length; first += KEYS_AT_ONCE) {
		const some = keys.slice(first, first + KEYS_AT_ONCE);
		found.push(
			...(await clickHouse.select<StoredClick>(`SELECT ${storedColumns} FROM clicks FINAL WHERE ${hasKey(some)}`)),
		);
	}

	return found;
};

/** An item of a FROM: stored clicks as `clicksInFull`; contexts and campaigns are in PostgreSQL. */
export const fullRows = (clicks: readonly StoredClick[]): Sql => {
	const stored = JSON.stringify(clicks.map(({occurred_at: at, ...click}) => ({...click, at})));
	return sql`(SELECT stored.id, to_timestamp(stored.at / 1000000.0) AS occurred_at, stored.organization_id, stored.link_id,
			stored.context_id, stored.campaign_id, stored.referrer_host, ${sharedColumns}
		FROM json_to_recordset(${stored}::json) AS stored (id uuid, at bigint, organization_id uuid, link_id uuid,
			context_id bigint, campaign_id bigint, referrer_host text) ${joinSharedValues(sql`stored`)})`;
};

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
		const pages = pagesByKey<StoredClick>(PAGE, (last) => {
			const after = last === null ? '' : `AND (occurred_at, id) > (${literal(last.occurred_at)}, ${literal(last.id)})`;
			return clickHouse.select(
				`SELECT ${storedColumns} FROM clicks FINAL WHERE ${own} AND day = ${literal(day)} ${after}
				ORDER BY occurred_at, id LIMIT ${literal(PAGE)}`,
			);
		});
		for await (const page of pages) {
			const unknown = [...new Set(page.map(({batch}) => batch))].filter((batch) => !isLater.has(batch));
			const later = unknown.length === 0 ? new Set<string>() : await laterBatches(db, unknown, upTo);
			for (const batch of unknown) {
				isLater.set(batch, later.has(batch));
			}

			yield page.filter(({batch}) => isLater.get(batch) === false);
		}
	}
}

type Batch = {id: string; oldest: Date};

export const readBatches = (db: Db, range: SnapshotRange): Promise<Batch[]> =>
	run(db, sql`SELECT id, oldest FROM click_batches WHERE ${writtenBetween(range)} ORDER BY writer`);

/** The clicks of an organization whose batches are between two snapshots, for exports (contract/reports 8). */
export const createExportedClicks = (
	db: Db,
	clickHouse: ClickHouse,
	/** Waits until ClickHouse has the clicks of this machine's answers. */
	current: (containing: string[]) => Promise<void>,
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

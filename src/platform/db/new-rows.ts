import {type Db, onlyRow} from './db.ts';
import {run, type Sql, sql} from './sql.ts';

/**
 * The transactions that were committed at one moment, as PostgreSQL writes them (`pg_snapshot`): `xmin:xmax:xip`. Rows
 * carry the number of the transaction that wrote them: each row is between exactly one pair of consecutive snapshots, in
 * any order of commits and with any number of processes.
 */
export type Snapshot = string;

type Parts = {xmin: bigint; xmax: bigint};

/** The bounds of a snapshot, or null for a text that PostgreSQL would reject. */
export const parseSnapshot = (text: string): Parts | null => {
	const [, first, end, list = ''] = /^(\d+):(\d+):((?:\d+,)*\d+)?$/.exec(text) ?? [];
	if (first === undefined || end === undefined) {
		return null;
	}

	const [xmin, xmax] = [BigInt(first), BigInt(end)];
	const underWay = list === '' ? [] : list.split(',').map(BigInt);
	const isOrdered = underWay.every((id, index) => id >= xmin && id < xmax && id > (underWay[index - 1] ?? 0n));
	return xmin > 0n && xmin <= xmax && isOrdered ? {xmin, xmax} : null;
};

/** Rows committed after `from` and up to `upTo`. */
export type SnapshotRange = {from: Snapshot; upTo: Snapshot};

/** The snapshot of now. */
export const readSnapshot = async (db: Db): Promise<Snapshot> =>
	onlyRow(await run<{snapshot: Snapshot}>(db, sql`SELECT CAST(pg_current_snapshot() AS text) AS snapshot`)).snapshot;

/** A condition for the rows of a range. Its first two parts are for the index. */
export const writtenBetween = ({from, upTo}: SnapshotRange): Sql =>
	sql`writer >= pg_snapshot_xmin(${from}::pg_snapshot) AND writer < pg_snapshot_xmax(${upTo}::pg_snapshot)
		AND NOT pg_visible_in_snapshot(writer, ${from}::pg_snapshot) AND pg_visible_in_snapshot(writer, ${upTo}::pg_snapshot)`;

/** Rows of a page: no more are in memory at once. */
const PAGE = 1000;

type Source = {
	/** An item of a FROM and its name. */
	table: Sql;
	name: Sql;
	/** With `id`, and without `writer`. */
	columns: Sql;
	condition?: Sql;
	/** Adds to the rows of a page, such as by joins; it may change their order. */
	around?: (page: Sql) => Sql;
};

/** The rows of a range, page by page in the order of `writer` and `id`, which is the index's. */
export async function* newRows<Row extends {id: string}>(
	db: Db,
	{table, name, columns, condition = sql`true`, around = (page) => page}: Source,
	range: SnapshotRange,
): AsyncGenerator<Array<Row & {writer: string}>> {
	let last = {writer: '0', id: '00000000-0000-0000-0000-000000000000'};
	for (;;) {
		const page = sql`SELECT ${columns}, CAST(writer AS text) AS writer FROM ${table}
			WHERE ${writtenBetween(range)} AND ${condition} AND (writer, id) > (${last.writer}::xid8, ${last.id}::uuid)
			ORDER BY ${name}.writer, ${name}.id LIMIT ${PAGE}`;
		const rows = await run<Row & {writer: string}>(db, around(page));
		if (rows.length > 0) {
			yield rows;
		}

		if (rows.length < PAGE) {
			return;
		}

		last = rows.reduce((max, {writer, id}) => {
			const order = BigInt(writer) - BigInt(max.writer);
			return order > 0n || (order === 0n && id > max.id) ? {writer, id} : max;
		}, last);
	}
}

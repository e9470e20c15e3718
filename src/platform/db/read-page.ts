import type {Knex} from 'knex';
import {type Db, onlyRow} from './db.ts';
import {run, type Sql, sql} from './sql.ts';

/** `page` and `limit` of every list (contract/requests 10). `page` is limited so that its offset fits a bigint. */
export type PageQuery = {page: number; limit: number};

/** A list as every route answers it. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** Columns for `orderBy`; a text is a column in ascending order. */
type Order = Array<string | {column: string; order: 'desc'}>;

export const descending = (...columns: string[]): Order => columns.map((column) => ({column, order: 'desc'}));

/** How many rows a query has. */
export const countRows = async (all: Knex.QueryBuilder): Promise<number> => {
	const [counted] = (await all.clone().clearSelect().count({total: '*'})) as Array<{total: string}>;
	return Number(counted?.total ?? 0);
};

/**
 * One page of a table's rows, and their total number (contract/requests 10).
 * @param all selects the columns of an item (`columnsOf`), unless `toItem` makes one of the row.
 * @param order must be unique, or pages would overlap.
 */
export const readPage = async <T, Row = T>(
	all: Knex.QueryBuilder,
	{page, limit}: PageQuery,
	order: Order,
	toItem?: (row: Row) => T,
): Promise<Page<T>> => {
	const total = await countRows(all);
	const rows = await all
		.orderBy(order)
		.limit(limit)
		.offset((page - 1) * limit);
	return {data: toItem === undefined ? rows : rows.map(toItem), total, page, limit};
};

/** As `readPage`, of a statement: `from` is all that follows `FROM`, up to the conditions. */
export const readSqlPage = async <T>(
	db: Db,
	{columns, from, order}: {columns: Sql; from: Sql; order: Sql},
	{page, limit}: PageQuery,
): Promise<Page<T>> => {
	const {total} = onlyRow(await run<{total: string}>(db, sql`SELECT count(*) AS total FROM ${from}`));
	const data = await run<T>(
		db,
		sql`SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
	);
	return {data, total: Number(total), page, limit};
};

import type {Knex} from 'knex';

/** `page` and `limit` of every list (contract/requests 10). `page` is limited so that its offset fits a bigint. */
export type PageQuery = {page: number; limit: number};

/** A list as every route answers it. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** How many rows a query has. */
export const countRows = async (all: Knex.QueryBuilder): Promise<number> => {
	const [counted] = (await all.clone().clearSelect().count({total: '*'})) as Array<{total: string}>;
	return Number(counted?.total ?? 0);
};

/**
 * One page of a query's rows, and their total number (contract/requests 10).
 * @param all selects the columns of an item (`columnsOf`), unless `toItem` makes one of the row.
 * @param order columns, each with ` DESC` if descending; together they must be unique, or pages would overlap.
 */
export const readPage = async <T, Row = T>(
	all: Knex.QueryBuilder,
	{page, limit}: PageQuery,
	order: string,
	toItem?: (row: Row) => T,
): Promise<Page<T>> => {
	const total = await countRows(all);
	const terms = order.split(', ').map((term) => {
		const [column = '', direction = 'ASC'] = term.split(' ');
		return {column, order: direction};
	});
	const rows = await all
		.orderBy(terms)
		.limit(limit)
		.offset((page - 1) * limit);
	return {data: toItem === undefined ? rows : rows.map(toItem), total, page, limit};
};

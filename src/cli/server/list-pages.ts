import type {PageOptions} from '../common-options.ts';
import type {ApiClient, Query} from './admin-client.ts';

/** A list as the API answers it. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** A function that reads one page of a list. */
export type List<T> = (query: Query) => Promise<Page<T>>;

const MAX_PAGE = 100;

/** The list at a path of the admin API. */
export const listAt =
	<T>(client: ApiClient, path: string): List<T> =>
	(query) =>
		client.get<Page<T>>(path, query);

/**
 * All pages of a list in order, with each row once. Lists are newest first, so rows created meanwhile move others
 * to the next page. Deleted ones move them to earlier pages, which are then read again.
 */
export async function* eachPage<T>(list: List<T>, query: Query = {}): AsyncGenerator<Page<T>> {
	const seen = new Set<unknown>();
	const isNew = (row: T): boolean => {
		const {id} = row as {id?: unknown};
		return id === undefined || (!seen.has(id) && seen.add(id) !== null);
	};
	let known = 0;
	for (let page = 1; ; page += 1) {
		const answer = await list({...query, page, limit: MAX_PAGE});
		const {data, total, limit} = answer;
		yield {...answer, data: data.filter(isNew)};
		const isLast = data.length < limit || page * limit >= total;
		// The server counts before it reads, so the last page may lack rows of its own total.
		const left = isLast ? Math.min(total, (page - 1) * limit + data.length) : total;
		const lost = known - left;
		known = left;
		if (lost > 0) {
			page = Math.max(0, page - Math.ceil(lost / limit) - 1);
		} else if (isLast) {
			return;
		}
	}
}

/** The requested page, or with `all` the whole list as one page. */
export const listPages = async <T>(
	list: List<T>,
	{page, limit, all}: PageOptions,
	query: Query = {},
): Promise<Page<T>> => {
	if (!all) {
		return list({...query, page, limit});
	}

	const rows: T[] = [];
	let total = 0;
	for await (const answer of eachPage(list, query)) {
		total = answer.total;
		rows.push(...answer.data);
	}

	return {data: rows, total, page: 1, limit: rows.length};
};

/** All rows of the list at a path. */
export const allAt = async <T>(client: ApiClient, path: string, query: Query = {}): Promise<T[]> =>
	(await listPages(listAt<T>(client, path), {all: true}, query)).data;

/** The note below a list with more pages, else null. */
export const remainder = ({data, total, page, limit}: Page<unknown>): string | null =>
	page * limit < total && data.length > 0
		? `${data.length} of ${total}; --page ${page + 1} shows the next page, --all shows all`
		: null;

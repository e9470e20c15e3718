import type {PageOptions} from '../common-options.ts';
import type {ApiClient, Query} from './admin-client.ts';

/** A list as the API answers it. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** A function that reads one page of a list. */
export type List<T> = (query: Query) => Promise<Page<T>>;

const LARGEST_PAGE = 100;

/** The list at a path of the admin API. */
export const listAt =
	<T>(client: ApiClient, path: string): List<T> =>
	(query) =>
		client.get<Page<T>>(path, query);

/** All pages of a list, one after the other. */
export async function* eachPage<T>(list: List<T>, query: Query = {}): AsyncGenerator<Page<T>> {
	for (let page = 1; ; page += 1) {
		const answer = await list({...query, page, limit: LARGEST_PAGE});
		yield answer;
		if (answer.data.length < answer.limit || page * answer.limit >= answer.total) {
			return;
		}
	}
}

/**
 * The requested page, or with `all` the whole list as one page. Lists are newest first, so rows created meanwhile move
 * others to the next page: repeated rows are dropped.
 */
export const listPages = async <T extends {id?: unknown}>(
	list: List<T>,
	{page, limit, all}: PageOptions,
	query: Query = {},
): Promise<Page<T>> => {
	if (!all) {
		return list({...query, page, limit});
	}

	const rows = new Map<unknown, T>();
	let total = 0;
	for await (const answer of eachPage(list, query)) {
		total = answer.total;
		for (const row of answer.data) {
			rows.set(row.id ?? rows.size, row);
		}
	}

	return {data: [...rows.values()], total, page: 1, limit: rows.size};
};

/** The note below a list with more pages, else null. */
export const remainder = ({data, total, page, limit}: Page<unknown>): string | null =>
	page * limit < total && data.length > 0
		? `${data.length} of ${total}; --page ${page + 1} shows the next page, --all shows all`
		: null;

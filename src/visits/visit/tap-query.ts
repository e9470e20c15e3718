import {effectiveColumns} from '../../links/links/link-columns.ts';
import {type LinkColumns, type LinkFieldName, type LinkFieldValue, linkFields} from '../../links/links/link-fields.ts';
import {isStorable} from '../../platform/http/storable.ts';
import {firstValue, type Query} from '../../platform/query.ts';
import {ownParams, type ResolvedRow} from './resolved-row.ts';

const {max: MAX_PARAMS, maxBytes: MAX_PARAMS_BYTES} = linkFields.params;

type Params = Record<string, string>;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Maximum bytes of a UTF-16 unit in JSON: a control character is `\u0000`. */
const MAX_UNIT_BYTES = 6;

/** Whether parameters stay within the limits by an upper bound of their bytes: the exact number is too slow for every visit. */
const surelyFit = (...all: Params[]): boolean => {
	let count = 0;
	let units = 0;
	for (const params of all) {
		for (const name in params) {
			count += 1;
			units += name.length + (params[name]?.length ?? 0) + 3;
		}
	}

	return count <= MAX_PARAMS && MAX_UNIT_BYTES * units <= MAX_PARAMS_BYTES;
};

/** The query's parameters that a link could have: the first value of each. Those that the link has are in `overridden`. */
const storableOf = (own: Params, query: Query): {added: Params; overridden: Params} => {
	const found = {added: {} as Params, overridden: {} as Params};
	for (const name in query) {
		const value = firstValue(query[name]);
		if (name !== 'deviceId' && isStorable(name) && isStorable(value)) {
			found[Object.hasOwn(own, name) ? 'overridden' : 'added'][name] = value;
		}
	}

	return found;
};

/**
 * The parameters, with the query's added as defaults up to the limits of `params` (contract/resolution 2). A query
 * parameter that a link could not have is left out.
 */
export const withQuery = (params: Params, query: Query): Params => {
	const {added} = storableOf(params, query);
	if (surelyFit(params, added)) {
		return {...params, ...added};
	}

	const merged = {...params};
	let count = Object.keys(merged).length;
	let bytes = jsonBytes(merged);
	for (const [name, value] of Object.entries(added)) {
		// With a colon, and with the preceding comma.
		const more = jsonBytes(name) + jsonBytes(value) + (count === 0 ? 1 : 2);
		if (count < MAX_PARAMS && bytes + more <= MAX_PARAMS_BYTES) {
			merged[name] = value;
			count += 1;
			bytes += more;
		}
	}

	return merged;
};

/** The fields of a link that its app receives. */
const APP_FIELDS = ['path', 'params', 'minimumVersion'] as const satisfies LinkFieldName[];

/** The columns of `appDataOf` in SQL, of `links`, `templates` and `app_configs`. */
export const appDataSql = effectiveColumns(({name}) => APP_FIELDS.some((field) => field === name));

export type AppDataRow = Pick<ResolvedRow, 'template_params' | keyof LinkColumns<(typeof APP_FIELDS)[number]>>;

/** The part of a link that its app receives: path, parameters and the minimum version of the app. */
export type AppData = {
	path: string;
	params: Params;
	minimumVersion?: LinkFieldValue<'minimumVersion'>;
};

/** The link's data with the query of the visit. */
export const appDataOf = (row: AppDataRow, query: Query): AppData => ({
	path: row.path ?? '/',
	params: withQuery(ownParams(row), query),
	...(row.minimum_version === null ? {} : {minimumVersion: row.minimum_version}),
});

const nullIfEmpty = (params: Params): Params | null => (Object.keys(params).length === 0 ? null : params);

/**
 * The query of a visit as the page and the open match carry it; null if there is none. The parameters that fit beside
 * the link's own come first, so that `withQuery` later adds the same ones as of the whole query.
 */
export const visitQueryOf = (row: ResolvedRow, query: Query | null): Params | null => {
	if (query === null || Object.keys(query).length === 0) {
		return null;
	}

	const own = ownParams(row);
	// Nearly always all of it fits, and nothing has to be weighed.
	const {added, overridden} = storableOf(own, query);
	if (!surelyFit(own, added, overridden)) {
		const fitting = Object.entries(withQuery(own, query)).filter(([name]) => !Object.hasOwn(own, name));
		return nullIfEmpty(withQuery(Object.fromEntries(fitting), query));
	}

	return nullIfEmpty(Object.assign(added, overridden));
};

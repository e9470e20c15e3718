import {effectiveColumns} from '../../links/links/link-columns.ts';
import {type LinkColumns, type LinkFieldName, type LinkFieldValue, linkFields} from '../../links/links/link-fields.ts';
import {isStorable} from '../../platform/http/storable.ts';
import type {Query} from '../../platform/query.ts';
import {ownParams, type ResolvedRow} from './resolved-row.ts';

const {max: MAX_PARAMS, maxBytes: MAX_PARAMS_BYTES} = linkFields.params;

type Params = Record<string, string>;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Maximum bytes of a UTF-16 unit in JSON: a control character is `\u0000`. */
const MAX_UNIT_BYTES = 6;

/** An upper bound of `jsonBytes`, which is too slow for every visit. */
const atMostBytes = (params: Params): number => {
	let units = 2;
	for (const name in params) {
		units += name.length + (params[name]?.length ?? 0) + 1;
	}

	return MAX_UNIT_BYTES * units;
};

/**
 * The parameters, with the query's added as defaults up to the limits of `params` (contract/resolution 2). A query
 * parameter that a link could not have is left out.
 */
export const withQuery = (params: Params, query: Query): Params => {
	const given = Object.entries(query);
	if (given.length === 0) {
		return params;
	}

	const merged = {...params};
	let count = Object.keys(merged).length;
	let bytes = atMostBytes(merged);
	let isExact = false;
	for (const [name, values] of given) {
		const value = (typeof values === 'string' ? values : values[0]) ?? '';
		if (count >= MAX_PARAMS) {
			break;
		}

		if (name === 'deviceId' || Object.hasOwn(params, name) || !isStorable(name) || !isStorable(value)) {
			continue;
		}

		let added = atMostBytes({[name]: value});
		if (!isExact && bytes + added > MAX_PARAMS_BYTES) {
			bytes = jsonBytes(merged);
			isExact = true;
		}

		if (isExact) {
			// With a colon, and with the preceding comma.
			added = jsonBytes(name) + jsonBytes(value) + (count === 0 ? 1 : 2);
		}

		if (bytes + added <= MAX_PARAMS_BYTES) {
			merged[name] = value;
			count += 1;
			bytes += added;
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

/** The link's data with the query of the tap. */
export const appDataOf = (row: AppDataRow, query: Query): AppData => ({
	path: row.path ?? '/',
	params: withQuery(ownParams(row), query),
	...(row.minimum_version === null ? {} : {minimumVersion: row.minimum_version}),
});

/**
 * The query of a visit as the page and the open match carry it; null if there is none. What fits beside the link's
 * parameters comes first, so that `withQuery` adds the same of it later as of the whole query.
 */
export const tapQueryOf = (row: ResolvedRow, query: Query | null): Params | null => {
	if (query === null || Object.keys(query).length === 0) {
		return null;
	}

	const own = ownParams(row);
	// Nearly always all of it fits, and nothing has to be weighed.
	const kept: Params = {};
	const overridden: Params = {};
	let count = Object.keys(own).length;
	for (const [name, values] of Object.entries(query)) {
		const value = (typeof values === 'string' ? values : values[0]) ?? '';
		if (name !== 'deviceId' && isStorable(name) && isStorable(value)) {
			(Object.hasOwn(own, name) ? overridden : kept)[name] = value;
			count += 1;
		}
	}

	if (count <= MAX_PARAMS && atMostBytes(own) + atMostBytes(kept) + atMostBytes(overridden) <= MAX_PARAMS_BYTES) {
		return count === Object.keys(own).length ? null : Object.assign(kept, overridden);
	}

	const added = Object.entries(withQuery(own, query)).filter(([name]) => !Object.hasOwn(own, name));
	const weighed = withQuery(Object.fromEntries(added), query);
	return Object.keys(weighed).length === 0 ? null : weighed;
};

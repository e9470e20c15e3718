import type {Query} from '../http/query.ts';
import {isStorable} from '../http/storable.ts';
import {type LinkRow, ownParams} from './link-row.ts';

/** Most parameters in a link's `params`, and most bytes of them as JSON (contract/links 1). */
const MAX_PARAMS = 50;
const MAX_PARAMS_BYTES = 8192;

type Params = Record<string, string>;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

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
	let bytes = jsonBytes(merged);
	for (const [name, values] of given) {
		const [value = ''] = [values].flat();
		if (count >= MAX_PARAMS) {
			break;
		}

		if (name === 'deviceId' || Object.hasOwn(params, name) || !isStorable(name) || !isStorable(value)) {
			continue;
		}

		// With a colon, and with the preceding comma.
		const wider = bytes + jsonBytes(name) + jsonBytes(value) + (count === 0 ? 1 : 2);
		if (wider <= MAX_PARAMS_BYTES) {
			merged[name] = value;
			count += 1;
			bytes = wider;
		}
	}

	return merged;
};

/** What an app receives of a link, with the query of the tap. */
export const appDataOf = (row: LinkRow, query: Query) => ({
	path: row.path ?? '/',
	params: withQuery(ownParams(row), query),
	minimumVersion: row.minimum_version,
});

/**
 * The query of a visit as the page and the open match carry it; null if there is none. What the link's parameters leave
 * room for comes first, so that `withQuery` adds the same of it later as of the whole query.
 */
export const tapQueryOf = (row: LinkRow, query: Query | null): Params | null => {
	if (query === null || Object.keys(query).length === 0) {
		return null;
	}

	const own = ownParams(row);
	const added = Object.entries(withQuery(own, query)).filter(([name]) => !Object.hasOwn(own, name));
	const kept = withQuery(Object.fromEntries(added), query);
	return Object.keys(kept).length === 0 ? null : kept;
};

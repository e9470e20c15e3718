import {effectiveColumns} from '../../../links/links/link-columns.ts';
import {
	type LinkColumns,
	type LinkFieldName,
	type LinkFieldValue,
	linkFields,
} from '../../../links/links/link-fields.ts';
import type {Query} from '../../../platform/http/query.ts';
import {isStorable} from '../../../platform/http/storable.ts';
import {ownParams, type ResolvedRow} from './resolved-row.ts';

const {max: MAX_PARAMS, maxBytes: MAX_PARAMS_BYTES} = linkFields.params;

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

/** The fields of a link that its app receives. */
const APP_FIELDS = ['path', 'params', 'minimumVersion'] as const satisfies LinkFieldName[];

/** The columns of `appDataOf` in SQL, of `links`, `templates` and `app_configs`. */
export const appDataSql = effectiveColumns(({name}) => APP_FIELDS.some((field) => field === name));

export type AppDataRow = Pick<ResolvedRow, 'template_params' | keyof LinkColumns<(typeof APP_FIELDS)[number]>>;

/** What an app receives of a link: where it leads, and the least version of the app. */
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
 * The query of a visit as the page and the open match carry it; null if there is none. What the link's parameters leave
 * room for comes first, so that `withQuery` adds the same of it later as of the whole query.
 */
export const tapQueryOf = (row: ResolvedRow, query: Query | null): Params | null => {
	if (query === null || Object.keys(query).length === 0) {
		return null;
	}

	const own = ownParams(row);
	const added = Object.entries(withQuery(own, query)).filter(([name]) => !Object.hasOwn(own, name));
	const kept = withQuery(Object.fromEntries(added), query);
	return Object.keys(kept).length === 0 ? null : kept;
};

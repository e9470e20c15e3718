import {type LinkFieldValue, urlColumns} from '../../../links/links/link-fields.ts';
import {isShortCode} from '../../../links/links/short-code.ts';
import {cutText} from '../../../platform/cut-text.ts';
import {safeLine} from '../../terminal/printable.ts';
import {type AppClaims, type ForeignFacts, type ImportRow, type Place, putField, type Wrapping} from './import-row.ts';

/** A row that cannot become a link; the message continues «line 7: ». */
export class UnusableRow extends Error {
	override name = 'UnusableRow';
}

/** The result of a foreign row: a create body, and fields not carried over. */
export type ForeignLink = {link: Record<string, unknown>; facts: ForeignFacts};

/** A non-empty text, or a number as text. */
export const textIn = (value: unknown): string | undefined => {
	const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
	return text === '' ? undefined : text;
};

export const textsIn = (value: unknown): string[] =>
	Array.isArray(value) ? value.flatMap((item) => textIn(item) ?? []) : [];

const isPresent = (value: unknown): boolean =>
	value !== undefined &&
	value !== null &&
	value !== '' &&
	value !== false &&
	!(typeof value === 'object' && Object.keys(value).length === 0);

/** The fields with a value; `isActive: false` is one. */
const presentFields = (fields: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value === false || isPresent(value)));

/** The fields that a link takes over from a row as they are, by their names in both. */
export const copiedFields = (row: Record<string, unknown>, names: Record<string, string>): Record<string, unknown> =>
	presentFields(Object.fromEntries(Object.entries(names).map(([field, name]) => [field, textIn(row[name])])));

/** The link of a row, and what stays behind, by its name in the row. What is empty or absent there is left out. */
export const foreignLink = ({
	link,
	address: {host, prefix},
	apps,
	left,
}: {
	link: Record<string, unknown>;
	address: Pick<ForeignFacts, 'host' | 'prefix'>;
	apps: Partial<AppClaims>;
	left: Record<string, unknown>;
}): ForeignLink => {
	const body: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(presentFields(link))) {
		putField(body, field, value);
	}

	return {
		link: body,
		facts: {
			host,
			prefix: prefix ?? null,
			apps: {bundleIds: [], appStoreIds: [], packageNames: [], schemes: [], ...apps},
			left: Object.keys(left).filter((name) => isPresent(left[name])),
		},
	};
};

/** A text of the file for messages: short and without control characters. */
export const shortened = (text: string): string => {
	const line = safeLine(text);
	return line.length > 100 ? `${cutText(line, 100)}…` : line;
};

const isWeb = (text: string): boolean => /^https?:\/\//i.test(text);

/** The http or https URL in a field. @throws UnusableRow for any other text; `what` is the field's name. */
export const webUrl = (text: string | undefined, what: string): URL => {
	if (text === undefined) {
		throw new UnusableRow(`has no ${what}`);
	}

	// The parser also accepts `https:host` (contract/links 10).
	if (!isWeb(text) || !URL.canParse(text)) {
		throw new UnusableRow(`${what} '${shortened(text)}' is not an http or https URL`);
	}

	return new URL(text);
};

/** Escapes of reserved characters (RFC 3986), of `%` and of control characters: decoded, they would mean something else. */
const KEPT_ESCAPE = /%(?=[01][\da-f]|2[1345-9abcf]|3[abdf]|40|5[bd]|7f)/gi;

/** Decodes percent codes that form valid text, except those that a path keeps. */
const decoded = (text: string): string => {
	try {
		return decodeURI(text.replace(KEPT_ESCAPE, '%25'));
	} catch {
		return text;
	}
};

/** A code here, and the segments before it that a domain may have as a prefix (contract/hosts 8). */
const ADDRESS = /^(?:([A-Za-z0-9_~-][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)\/)?([^/]+)$/;

/**
 * The host, the final code and what stands before it in a short URL. @throws UnusableRow for a code that is invalid here.
 */
export const shortAddress = (url: URL): {shortCode: string; host: string; prefix: string | null} => {
	const path = decoded(url.pathname.replace(/^\/|\/$/g, ''));
	const [, prefix = null, shortCode] = ADDRESS.exec(path) ?? [];
	if (shortCode === undefined || !isShortCode(shortCode) || (prefix?.length ?? 0) > 255) {
		throw new UnusableRow(
			path === ''
				? `has no short code in '${shortened(url.href)}'`
				: `short code '${shortened(path)}' must be 1 to 64 letters, digits, _ or -`,
		);
	}

	return {shortCode, host: url.host, prefix};
};

/** The campaign values, as URLs and most services name them. */
export const utmNames: Readonly<Record<string, string>> = Object.fromEntries(
	urlColumns.map(({name, column}) => [name, column]),
);

const utmParameters = new Set(Object.values(utmNames));

/**
 * The in-app destination of a URL: its decoded path, its query as `params`, its `utm_*` as campaign values. A query
 * with a repeated name stays in the path, because `params` hold one value per name.
 */
export const destinationOf = ({pathname, searchParams, search, hash}: URL): Record<string, unknown> => {
	const query = [...searchParams];
	if (new Set(query.map(([name]) => name)).size < query.length) {
		return {path: decoded(pathname) + decoded(search) + decoded(hash)};
	}

	return {
		path: decoded(pathname) + decoded(hash),
		params: Object.fromEntries(query.filter(([name]) => !utmParameters.has(name))),
		...copiedFields(Object.fromEntries(query), utmNames),
	};
};

/** The same for a service's deep link: a path, a custom-scheme URL or a web address. */
export const deepLinkOf = (text: string): {fields: Record<string, unknown>; schemes: string[]} => {
	const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text) ?? [];
	if (scheme === undefined) {
		// Two slashes of either kind would begin a host, even with characters between them that the parser drops.
		const url = `https://app.invalid/${text.replace(/^[/\\\s]+/, '')}`;
		return {fields: destinationOf(webUrl(url, 'deep link')), schemes: []};
	}

	if (/^https?$/i.test(scheme)) {
		return {fields: destinationOf(webUrl(text, 'deep link')), schemes: []};
	}

	return {fields: deepLinkOf(rest).fields, schemes: [scheme]};
};

/** The app of a store URL; null for any other address. */
export const storeClaims = (text: string | undefined): Partial<AppClaims> | null => {
	const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
	const page = url === null ? '' : `${url.protocol}//${url.hostname.toLowerCase()}${url.pathname}`;
	if (/^(?:https?|itms-apps):\/\/(?:apps|itunes)\.apple\.com\//.test(page)) {
		const part = page.split('/').findLast((one) => /^id\d+$/.test(one));
		return part === undefined ? null : {appStoreIds: [part.slice(2)]};
	}

	const packageName = /^(?:https?:\/\/play\.google\.com\/store\/apps\/details|market:\/\/details)$/.test(page)
		? url?.searchParams.get('id')
		: null;
	return packageName == null ? null : {packageNames: [packageName]};
};

/**
 * The addresses of a row for single platforms, by platform and column: a web page is a destination, a store's page a
 * claim about the app, and any other is left. `desktop` is also the row's fallback, which has its rules.
 */
export const placesOf = (
	given: ReadonlyArray<readonly [platform: 'ios' | 'ipad' | 'android', column: string, value: unknown]>,
	desktop?: string,
) => {
	const destinations: LinkFieldValue<'destinations'> = desktop !== undefined && isWeb(desktop) ? {desktop} : {};
	const claims = {appStoreIds: [] as string[], packageNames: [] as string[]};
	const left: Record<string, string> = {};
	for (const [platform, column, value] of given) {
		const text = textIn(value);
		const store = storeClaims(text);
		claims.appStoreIds.push(...(store?.appStoreIds ?? []));
		claims.packageNames.push(...(store?.packageNames ?? []));
		if (text !== undefined && store === null) {
			if (isWeb(text)) {
				destinations[platform] = text;
			} else {
				left[column] = text;
			}
		}
	}

	return {destinations, claims, left};
};

/** Normalizes an offset such as `+0000` to the colon form of ISO 8601. */
export const isoTime = (text: string | undefined): string | undefined => text?.replace(/([+-]\d\d)(\d\d)$/, '$1:$2');

/** Converts a foreign row to a link. @throws UnusableRow if that is impossible. */
export type LinkMapper<Row> = (row: Row) => ForeignLink;

/** The converted row, or the reason for its rejection. */
export const mapped = <Row>(
	given: Place & {raw: string; wrapping: Wrapping},
	row: Row,
	mapper: LinkMapper<Row>,
): ImportRow => {
	try {
		const {link, facts} = mapper(row);
		return {...given, row: link, foreign: facts};
	} catch (error) {
		if (error instanceof UnusableRow) {
			return {...given, error: error.message};
		}

		throw error;
	}
};

/** Rows of another service's objects. */
export async function* mappedRows(
	rows: AsyncIterable<ImportRow>,
	mapper: LinkMapper<Record<string, unknown>>,
): AsyncGenerator<ImportRow> {
	for await (const given of rows) {
		if (given.row === undefined) {
			yield given;
			continue;
		}

		const {row, ...place} = given;
		yield mapped(place, row, mapper);
	}
}

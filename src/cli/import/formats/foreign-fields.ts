import {type LinkFieldValue, urlColumns} from '../../../links/links/link-fields.ts';
import {isShortCode} from '../../../links/links/short-code.ts';
import {cutText} from '../../../platform/text.ts';
import {safeLine} from '../../terminal/printable.ts';
import type {AppClaims} from './import-row.ts';

/** The words for TRUE and FALSE that spreadsheets write in their languages when they save a CSV file. */
const YES = new Set(
	'true yes 1 wahr vrai verdadero verdadeiro vero waar prawda pravda sant sand sann tosi igaz adevărat doğru истина'.split(
		' ',
	),
);
const NO = new Set(
	'false no 0 falsch faux falso onwaar fałsz nepravda falskt falsk usann epätosi hamis fals yanlış yanliş ложь'.split(
		' ',
	),
);

/** The boolean in a cell or a field; null for an unknown word. An absent value is false. */
export const truthOf = (value: unknown): boolean | null => {
	if (typeof value === 'boolean' || value === undefined || value === null) {
		return value === true;
	}

	const word = String(value).trim().toLowerCase();
	return YES.has(word) ? true : word === '' || NO.has(word) ? false : null;
};

/** A row that cannot become a link; the message continues «line 7: ». */
export class UnusableRow extends Error {
	override name = 'UnusableRow';
}

/** An object of a service's API, or a record of its CSV file in the form of such an object. */
export type ForeignRow = Record<string, unknown>;

/** A non-empty text, or a number as text. */
export const textIn = (value: unknown): string | undefined => {
	const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
	return text === '' ? undefined : text;
};

export const textsIn = (value: unknown): string[] =>
	Array.isArray(value) ? value.flatMap((item) => textIn(item) ?? []) : [];

export const isPresent = (value: unknown): boolean =>
	value !== undefined &&
	value !== null &&
	value !== '' &&
	value !== false &&
	!(typeof value === 'object' && Object.keys(value).length === 0);

/** The fields with a value; `isActive: false` is one. */
export const presentFields = (fields: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value === false || isPresent(value)));

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
const RESERVED_ESCAPE = /%(?=[01][\da-f]|2[1345-9abcf]|3[abdf]|40|5[bd]|7f)/gi;

/** Decodes percent codes that form valid text, except those that a path keeps. */
const decoded = (text: string): string => {
	try {
		return decodeURI(text.replace(RESERVED_ESCAPE, '%25'));
	} catch {
		return text;
	}
};

/** A code here, and the segments before it that a domain may have as a prefix (contract/hosts 8). */
const ADDRESS = /^(?:([A-Za-z0-9_~-][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)\/)?([^/]+)$/;

/** Stands for the host of a row that has none: a code is not rejected because of a missing domain. */
export const NO_HOST = 'domain.invalid';

/** The host, the final code and the path before the code, of a short URL. @throws UnusableRow for a code that is invalid here. */
export const shortAddress = (url: URL): {shortCode: string; host: string | null; prefix: string | null} => {
	const path = decoded(url.pathname.replace(/^\/|\/$/g, ''));
	const [, prefix = null, shortCode] = ADDRESS.exec(path) ?? [];
	if (shortCode === undefined || !isShortCode(shortCode) || (prefix?.length ?? 0) > 255) {
		throw new UnusableRow(
			path === ''
				? `has no short code in '${shortened(url.href)}'`
				: `short code '${shortened(path)}' must be 1 to 64 letters, digits, _ or -`,
		);
	}

	return {shortCode, host: url.host === NO_HOST ? null : url.host, prefix};
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

	const campaign = Object.entries(utmNames).map(([field, name]) => [field, textIn(searchParams.get(name))]);
	return {
		path: decoded(pathname) + decoded(hash),
		params: Object.fromEntries(query.filter(([name]) => !utmParameters.has(name))),
		...presentFields(Object.fromEntries(campaign)),
	};
};

/** The link fields of a destination, and the custom schemes that it names. */
export type DeepLink = {fields: Record<string, unknown>; schemes?: string[]};

/** The link fields of a service's deep link: a path, a custom-scheme URL or a web address. */
export const deepLinkOf = (text: string): DeepLink => {
	const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text) ?? [];
	if (scheme !== undefined && !/^https?$/i.test(scheme)) {
		return {fields: deepLinkOf(rest).fields, schemes: [scheme]};
	}

	// Two slashes of either kind would begin a host, even with characters between them that the parser drops.
	const url = scheme === undefined ? `https://app.invalid/${text.replace(/^[/\\\s]+/, '')}` : text;
	return {fields: destinationOf(webUrl(url, 'deep link'))};
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

export type Platform = 'ios' | 'ipad' | 'android' | 'desktop';

/**
 * The addresses of a row for single platforms, by their names there: a web page is a destination, a store's page a claim
 * about the app, and any other is left. `desktop` is also the row's fallback, which has its rules.
 */
export const placesOf = (row: ForeignRow, names: Partial<Record<Platform, string>>) => {
	const destinations: LinkFieldValue<'destinations'> = {};
	const claims: Array<Partial<AppClaims>> = [];
	const left: string[] = [];
	for (const [platform, name] of Object.entries(names) as Array<[Platform, string]>) {
		const text = textIn(row[name]);
		const store = platform === 'desktop' ? null : storeClaims(text);
		claims.push(...[store ?? []].flat());
		if (text !== undefined && store === null) {
			if (isWeb(text)) {
				destinations[platform] = text;
			} else if (platform !== 'desktop') {
				left.push(name);
			}
		}
	}

	return {destinations, claims, left};
};

/** Normalizes an offset such as `+0000` to the colon form of ISO 8601. */
export const isoTime = (value: unknown): string | undefined => textIn(value)?.replace(/([+-]\d\d)(\d\d)$/, '$1:$2');

/**
 * `isActive` of a row, by its fields that say that it is archived.
 * @throws UnusableRow for a value that is not understood: a link of the past must not come alive.
 */
export const inactiveIf = (fields: ForeignRow): {isActive?: false} => {
	for (const [name, value] of Object.entries(fields)) {
		if (truthOf(value) === null) {
			throw new UnusableRow(`${name} '${shortened(String(value))}' is neither true nor false`);
		}
	}

	return Object.values(fields).some((value) => truthOf(value)) ? {isActive: false} : {};
};

import {appPathOf, appRoute} from '../../client/app-path.ts';
import {memoize} from '../../platform/memoize.ts';
import {readConfigFile} from '../../platform/package-root.ts';
import {isDeniedScheme} from './denied-schemes.ts';

/** True for an Android application id. */
export const isPackageName = (name: string): boolean =>
	name.length <= 255 && /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/.test(name);

/** True for the App Store's number of an app. */
export const isAppStoreId = (id: string): boolean => /^\d{6,12}$/.test(id);

type Values = Readonly<Record<string, string>>;

/** Texts that `URLSearchParams` does not change. */
const PLAIN = /^[\w*.-]*$/;

/** A name or value as `application/x-www-form-urlencoded`. */
const formEncoded = (text: string): string =>
	PLAIN.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);

/** Paths and URLs in a cache. */
const MAX_KNOWN = 5000;

/** A URL in parts, so that a visit adds parameters to it as text. Parsing takes longer than the rest of the page. */
const partsOf = memoize((href) => {
	const url = new URL(href);
	const [, before = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)(#.*)?$/s.exec(url.href) ?? [];
	return {before, query, fragment, names: new Set(url.searchParams.keys())};
}, MAX_KNOWN);

/** The URL with these parameters, except names that it already has. The owner's query stays as it is encoded. */
const withMissing = (href: string, values: Values, isAdded: (name: string) => boolean): string => {
	const {before, query, fragment, names} = partsOf(href);
	let text = query;
	for (const name in values) {
		if (isAdded(name) && !names.has(name)) {
			text += `${text === '' ? '' : '&'}${formEncoded(name)}=${formEncoded(values[name] ?? '')}`;
		}
	}

	return text === '' ? before + fragment : `${before}?${text}${fragment}`;
};

/** The URL with the link's campaign values by their names, except names that it already has. */
export const withUtm = (href: string, utm: Values): string => withMissing(href, utm, () => true);

/** Names of a visit's query that other websites receive; `*` stands for any end. */
const passedNames = readConfigFile<string[]>('passed-queries.json');

const passedStarts = passedNames.flatMap((passed) => (passed.endsWith('*') ? [passed.slice(0, -1)] : []));

// Not memoized: names are a visitor's, and each would keep the URL that it was cut from.
const isPassed = (name: string): boolean =>
	passedNames.includes(name) || passedStarts.some((start) => name.startsWith(start));

/** The URL with the campaign values and click ids of a visit's query, except names that it already has. */
export const withPassed = (href: string, query: Values): string => withMissing(href, query, isPassed);

// Apple's parser does not decode a plus sign, so spaces are not encoded as one.
const encoded = (text: string): string => formEncoded(text).replaceAll('+', '%20');

const queryText = (params: Values): string => {
	let text = '';
	for (const name in params) {
		text += `${text === '' ? '' : '&'}${encoded(name)}=${encoded(params[name] ?? '')}`;
	}

	return text;
};

/** The short URL with parameters. */
export const withParameters = (url: string, params: Values): string => {
	const query = queryText(params);
	return query === '' ? url : `${url}?${query}`;
};

/** True for a URI scheme that an app may claim. */
export const isCustomScheme = memoize((scheme) => /^[a-z][a-z0-9+.-]*$/i.test(scheme) && !isDeniedScheme(scheme));

/** A link's path as URL text. Every visit needs it, and parsing takes longer than the rest of the page. */
const placeOf = memoize((path) => {
	const {route, query, fragment} = appPathOf(path.toWellFormed());
	// Browsers take `.` and `..` out of all segments but the first, which is a host to them.
	return {route: appRoute(new URL(`app:/${route}`).pathname.replace(/^\/+/, '')), query, fragment};
}, MAX_KNOWN);

/** The in-app destination as URI text without a scheme: path, its query and `params`, fragment. */
const destination = (path: string, params: Values): string => {
	const {route, query, fragment} = placeOf(path);
	const more = queryText(params);
	const separator = more === '' ? '' : query === '' ? '?' : '&';
	return route + query + separator + more + fragment;
};

/** `scheme://path?params`, or null for a scheme that no app may claim. */
export const customSchemeUrl = ({
	scheme,
	path,
	params,
}: {
	scheme: string;
	path: string;
	params: Values;
}): string | null => (isCustomScheme(scheme) ? `${scheme}://${destination(path, params)}` : null);

/** The app's page in the App Store of the reader's country; null for an invalid App Store id. */
export const appStoreUrl = (id: string): string | null =>
	isAppStoreId(id) ? `https://apps.apple.com/app/id${id}` : null;

/**
 * The app's page on Google Play, whose Install Referrer passes `token` to the app; null for an invalid package name.
 */
export const playStoreUrl = (packageName: string, token: string | null): string | null =>
	isPackageName(packageName)
		? `https://play.google.com/store/apps/details?id=${packageName}${
				token === null ? '' : `&referrer=${encodeURIComponent(token)}`
			}`
		: null;

/**
 * An `intent:` URL that opens `target` (an http(s) or custom-scheme URL) in the app `packageName`, or `fallback` if the app is
 * missing. Null for an invalid package name (contract/resolution 17).
 */
export const intentUrl = ({
	target,
	packageName,
	fallback,
}: {
	target: string;
	packageName: string;
	fallback: string | null;
}): string | null => {
	const [, scheme, rest] = /^([^:]+):\/\/(.*)$/s.exec(target) ?? [];
	if (scheme === undefined || rest === undefined || !isPackageName(packageName)) {
		return null;
	}

	// The fields begin at the only `#Intent;`: another one in the target would let a link's path set them.
	const data = rest.replaceAll(/#(?=Intent;)/gi, '%23');
	const otherwise = fallback === null ? '' : `S.browser_fallback_url=${encodeURIComponent(fallback)};`;
	return `intent://${data}#Intent;scheme=${scheme};package=${packageName};${otherwise}end`;
};

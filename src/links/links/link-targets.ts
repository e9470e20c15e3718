import {appPathOf, appUrl} from '../../client/app-path.ts';
import {memoize} from '../../platform/memoize.ts';
import {readConfigFile} from '../../platform/package-root.ts';
import {isAppStoreId, isPackageName} from './app-ids.ts';
import {isDeniedScheme} from './denied-schemes.ts';

type Pairs = Array<[name: string, value: string]>;

/** The URL with these parameters, except names that it already has. */
const withMissing = (href: string, pairs: Pairs): string => {
	const url = new URL(href);
	const added = new URLSearchParams(pairs.filter(([name]) => !url.searchParams.has(name)));
	// Appended as text, because `searchParams` would re-encode the owner's query.
	url.search = [url.search.slice(1), added.toString()].filter((part) => part !== '').join('&');
	return url.href;
};

/** The URL with the link's campaign values by their names, except names that it already has. */
export const withUtm = (href: string, utm: Readonly<Record<string, string | null>>): string =>
	withMissing(
		href,
		Object.entries(utm).flatMap(([name, value]): Pairs => (value === null || value === '' ? [] : [[name, value]])),
	);

/** Names of a visit's query that other websites receive; `*` stands for any end. */
const passedNames = readConfigFile<string[]>('passed-queries.json');

const isPassed = (name: string): boolean =>
	passedNames.some((passed) => (passed.endsWith('*') ? name.startsWith(passed.slice(0, -1)) : name === passed));

/** The URL with the campaign values and click ids of a visit's query, except names that it already has. */
export const withPassed = (href: string, query: Readonly<Record<string, string>>): string =>
	withMissing(
		href,
		Object.entries(query).filter(([name]) => isPassed(name)),
	);

/** Texts that `URLSearchParams` does not change. */
const PLAIN = /^[\w*.-]*$/;

// Apple's parser does not decode a plus sign, so spaces are not encoded as one.
const encoded = (text: string): string =>
	PLAIN.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1).replaceAll('+', '%20');

const queryText = (params: Readonly<Record<string, string>>): string => {
	let text = '';
	for (const [name, value] of Object.entries(params)) {
		text += `${text === '' ? '' : '&'}${encoded(name)}=${encoded(value)}`;
	}

	return text;
};

/** The short URL with parameters. */
export const tappedUrl = (url: string, params: Readonly<Record<string, string>>): string => {
	const query = queryText(params);
	return query === '' ? url : `${url}?${query}`;
};

/** True for a URI scheme that an app may claim. */
export const isCustomScheme = memoize((scheme) => /^[a-z][a-z0-9+.-]*$/i.test(scheme) && !isDeniedScheme(scheme));

/** Paths in the cache. */
const MAX_PATHS = 5000;

/** A link's path as URL text. Every visit needs it, and parsing takes longer than the rest of the page. */
const placeOf = memoize((path) => {
	const {route, query, fragment} = appPathOf(path.toWellFormed());
	// Browsers take `.` and `..` out of all segments but the first, which is a host to them.
	return {route: new URL(`app:/${route}`).pathname.replace(/^\/+/, ''), query, fragment};
}, MAX_PATHS);

/** The in-app destination as URI text without a scheme: path, its query and `params`, fragment. */
const destination = (path: string, params: Readonly<Record<string, string>>): string => {
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
	params: Readonly<Record<string, string>>;
}): string | null => (isCustomScheme(scheme) ? appUrl(scheme, destination(path, params)) : null);

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

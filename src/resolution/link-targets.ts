import {isAppStoreId, isPackageName} from '../app-config/app-ids.ts';
import {deniedSchemes} from './denied-schemes.ts';

export type Utm = {
	source: string | null;
	medium: string | null;
	campaign: string | null;
	term: string | null;
	content: string | null;
};

/** The URL with the link's campaign values as `utm_*`, where it has none of that name itself. */
export const withUtm = (href: string, utm: Utm): string => {
	const url = new URL(href);
	const added = new URLSearchParams();
	for (const name of ['source', 'medium', 'campaign', 'term', 'content'] as const) {
		const value = utm[name];
		if (value !== null && value !== '' && !url.searchParams.has(`utm_${name}`)) {
			added.append(`utm_${name}`, value);
		}
	}

	// Added as text: writing through `searchParams` would spell the owner's own query anew.
	url.search = [url.search.slice(1), added.toString()].filter((part) => part !== '').join('&');
	return url.href;
};

/** True for a URI scheme that an app may claim as its own. */
export const isCustomScheme = (scheme: string): boolean =>
	/^[a-z][a-z0-9+.-]*$/i.test(scheme) && !deniedSchemes.includes(scheme.toLowerCase());

/** The in-app destination as scheme-less URI text: path, query of its own and of `params`, fragment. */
const destination = (path: string, params: Readonly<Record<string, string>>): string => {
	const [, place = '', fragment = ''] = /^\/*([^#]*)(#.*)?$/s.exec(path.toWellFormed()) ?? [];
	// Apple's parser leaves a plus sign as it is, so a space must not become one.
	const query = new URLSearchParams(params).toString().replaceAll('+', '%20');
	const joint = query === '' ? '' : place.includes('?') ? '&' : '?';
	return encodeURI(place) + joint + query + encodeURI(fragment);
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
}): string | null => (isCustomScheme(scheme) ? `${scheme}://${destination(path, params)}` : null);

/** The app's page in the App Store of the reader's own country, or null for what is no App Store id. */
export const appStoreUrl = (id: string): string | null =>
	isAppStoreId(id) ? `https://apps.apple.com/app/id${id}` : null;

/** The app's page on Google Play; its Install Referrer hands `token` to the app. Null for what is no package name. */
export const playStoreUrl = (packageName: string, token: string | null): string | null =>
	isPackageName(packageName)
		? `https://play.google.com/store/apps/details?id=${packageName}${
				token === null ? '' : `&referrer=${encodeURIComponent(token)}`
			}`
		: null;

/**
 * An `intent:` URL that opens `target` (an http(s) or custom-scheme URL) in the app of `packageName`, and `fallback`
 * where that app is missing; null for what is no package name (contract/page 4).
 */
export const intentUrl = ({
	target,
	packageName,
	fallback,
}: {
	target: string;
	packageName: string;
	fallback: string;
}): string | null => {
	const [, scheme, rest] = /^([^:]+):\/\/(.*)$/s.exec(target) ?? [];
	if (scheme === undefined || rest === undefined || !isPackageName(packageName)) {
		return null;
	}

	// The intent begins at the only `#`: one in the target would let a link's path write fields of its own.
	const data = rest.replaceAll('#', '%23');
	return `intent://${data}#Intent;scheme=${scheme};package=${packageName};S.browser_fallback_url=${encodeURIComponent(fallback)};end`;
};

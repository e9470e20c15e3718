/** What an app reads of a URL: the decoded segments of its route, the pairs of its query, its fragment. */
export type AppContent = {segments: string[]; query: Array<[name: string, value: string]>; fragment: string};

/** Each escape decoded, and whatever is none as UTF-8, so that texts that mean the same are equal. */
const decoded = (text: string): string =>
	Buffer.concat(
		(text.toWellFormed().match(/%[\da-f]{2}|%|[^%]+/gi) ?? []).map((part) =>
			/^%./.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part),
		),
	).toString('latin1');

/** The segments of a route with `.` and `..` taken out, as RFC 3986 (5.2.4) does, without empty ones in front. */
const segmentsOf = (route: string): string[] => {
	const kept: string[] = [];
	const all = route.split('/');
	for (const [index, segment] of all.entries()) {
		const [, dots] = /^((?:\.|%2e){1,2})$/i.exec(segment) ?? [];
		if (dots === undefined) {
			kept.push(decoded(segment));
			continue;
		}

		if (decoded(dots) === '..') {
			kept.pop();
		}

		if (index === all.length - 1) {
			kept.push('');
		}
	}

	const first = kept.findIndex((segment) => segment !== '');
	return first < 0 ? [''] : kept.slice(first);
};

const read = (route: string, query: URLSearchParams, hash: string): AppContent => ({
	segments: segmentsOf(route),
	query: [...query],
	fragment: decoded(hash.replace(/^#/, '')),
});

/** What `/data` says: a path without an origin, and parameters. */
export const contentOf = (path: string, params: Readonly<Record<string, string>> = {}): AppContent => {
	const [, route = '', search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(path) ?? [];
	// Node reads characters beyond ASCII wrongly in a query where a `%` encodes nothing.
	const ascii = search.toWellFormed().replace(/[^\0-\x7f]+/g, encodeURIComponent);
	return read(route, new URLSearchParams([...new URLSearchParams(ascii), ...Object.entries(params)]), hash);
};

/**
 * What an app gets of a link's target as a browser hands it over: after the browser's own parser, and of an intent as
 * Android's `Intent.parseUri` takes it apart.
 */
export const openedBy = (href: string): AppContent => {
	const parsed = new URL(href);
	const at = parsed.href.lastIndexOf('#Intent;');
	const scheme = /;scheme=([^;]+)/.exec(parsed.href.slice(at))?.[1];
	const url = parsed.protocol === 'intent:' ? new URL(`${scheme}:${parsed.href.slice('intent:'.length, at)}`) : parsed;
	if (url.port !== '' || url.username !== '') {
		throw new Error(`a part of ${href} is read as a port or a user`);
	}

	return read(`/${url.host}${url.pathname}`, url.searchParams, url.hash);
};

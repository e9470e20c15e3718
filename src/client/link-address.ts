import {withoutEndingSlash} from './api-caller.ts';

/** The address at which a link is requested: a host and a path. */
export type LinkAddress = {baseUrl: string; path: string; query: Record<string, string>};

/** Taken apart by hand, because React Native's URL is incomplete. A user name stays part of the host, which no list names. */
const partsOf = (url: string) => {
	const [, authority, path = '', query = ''] = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
	const host = authority
		?.toLowerCase()
		.replace(/:(?:80|443)$/, '')
		.replace(/\.$/, '');
	return host === undefined ? null : {host, path, query};
};

const decoded = (text: string): string => {
	try {
		return decodeURIComponent(text.replace(/\+/g, ' '));
	} catch {
		return text;
	}
};

/** The values of a query by name; of a repeated name the first, as on the server. */
export const queryOf = (query: string): Record<string, string> => {
	const values = new Map<string, string>();
	for (const pair of query.split('&').filter((one) => one !== '')) {
		const [name = '', ...value] = pair.split('=');
		if (!values.has(decoded(name))) {
			values.set(decoded(name), decoded(value.join('=')));
		}
	}

	return Object.fromEntries(values);
};

/** No empty or dot segment, and nothing that a URL parser makes one of. */
const isLinkPath = (path: string): boolean =>
	/^(?:\/[^/\\\s]+)+$/.test(path) && !/\/(?:\.|%2e){1,2}(?=\/|$)/i.test(path);

/**
 * Reads addresses of links: any path on one of these hosts, such as `https://go.example.com/AbCd/spring`, a bare code,
 * or one behind a prefix of the domain.
 * @param baseUrls addresses of hosts, without a slash at the end.
 * @returns a function that returns null for an address of anybody else, and for one without a path.
 */
export const createLinkAddresses = (baseUrls: readonly string[]): ((url: string) => LinkAddress | null) => {
	const hosts = baseUrls.flatMap((baseUrl) => {
		const parts = partsOf(baseUrl);
		return parts === null ? [] : [{...parts, baseUrl}];
	});
	return (url) => {
		const parts = partsOf(url);
		const own = parts && hosts.find(({host, path}) => host === parts.host && parts.path.startsWith(`${path}/`));
		if (parts === null || own == null) {
			return null;
		}

		const path = withoutEndingSlash(parts.path.slice(own.path.length));
		return isLinkPath(path) ? {baseUrl: own.baseUrl, path, query: queryOf(parts.query)} : null;
	};
};

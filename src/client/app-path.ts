/** The schemes, and the web host, in front of a path that is a whole URL. */
const ORIGIN = /^(?:(?!https?:)[a-z][a-z\d+.-]*:\/\/)*(?:https?:\/\/[^/?#]*)?/i;

/**
 * Encodes the characters that no URL may contain. Valid escapes stay, because encoding them again would change what the
 * app reads.
 */
const urlText = (text: string): string => encodeURI(text).replace(/%25(?=[\da-f]{2})/gi, '%');

/** The part of a link's path that its app gets, as URL text without leading slashes (contract/links 1). */
export const appPathOf = (path: string): {route: string; query: string; fragment: string} => {
	const [, route = '', query = '', fragment = ''] =
		/^\/*([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(path.replace(ORIGIN, '')) ?? [];
	return {route: urlText(route), query: urlText(query), fragment: urlText(fragment)};
};

/** The text of an app's URL behind its scheme. The route's first segment is a host: `@` and `:` would split it. */
export const appRoute = (text: string): string =>
	text.replace(/^[^/?#]*/, (host) => host.replaceAll('@', '%40').replaceAll(':', '%3A'));

/** A URL of an app's own scheme. `text` begins with the route. */
export const appUrl = (scheme: string, text: string): string => `${scheme}://${appRoute(text)}`;

/**
 * First segments that every host serves itself: association files, and the paths of monitors and proxies. No prefix begins
 * with one, and requests for them need no look-up of their host.
 */
export const servedOnEveryHost: ReadonlySet<string> = new Set(['.well-known', 'health', 'internal', 'metrics']);

/**
 * A path without the domain's prefix before the code (contract/hosts 8); null if it has none. Of several prefixes the
 * longest counts. A prefix with nothing behind it, or with `/data` alone, is read as a code itself.
 * @param path as sent, beginning with a slash.
 */
export const pathBehindPrefix = (prefixes: readonly string[], path: string): string | null => {
	let longest: string | null = null;
	for (const prefix of prefixes) {
		const rest = path.startsWith(`/${prefix}/`) ? path.slice(prefix.length + 1) : '/';
		if (!/^\/(?:data\/?)?$/.test(rest) && (longest === null || rest.length < longest.length)) {
			longest = rest;
		}
	}

	return longest;
};

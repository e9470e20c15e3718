import ipaddr from 'ipaddr.js';

const URL_LIMIT = 2048;

const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');

/** True for a host that only this machine or a private network knows, as a name or in an address's own notation. */
const isPrivateHost = (hostname: string): boolean => {
	// The URL parser writes every IPv4 address with dots and every other one in brackets; asking ipaddr.js about a name
	// is slow, because it throws inside.
	if (/^(?:\[.*\]|[\d.]+)$/.test(hostname)) {
		const address = hostname.replace(/^\[(.*)\]$/, '$1');
		return !ipaddr.isValid(address) || ipaddr.process(address).range() !== 'unicast';
	}

	return hostname === 'localhost' || hostname.endsWith('.localhost');
};

/**
 * A URL that a link may send people to or show as an image: http or https, without credentials, on neither a private
 * host nor one of `linkHosts` (a loop), as the URL parser writes it; null for any other (contract/links 10).
 */
export const safeHttpUrl = (raw: string, {linkHosts}: {linkHosts: readonly string[]}): string | null => {
	const text = raw.trim();
	// Parsers drop control characters and take `https:host` for a URL, so both are refused before parsing.
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
	if (text.length > URL_LIMIT || /[\u0000-\u001f\u007f]/.test(raw) || !/^https?:\/\//i.test(text)) {
		return null;
	}

	if (!URL.canParse(text)) {
		return null;
	}

	const url = new URL(text);
	const hostname = hostnameOf(url.hostname);
	const isRefused =
		!/^https?:$/.test(url.protocol) ||
		url.username !== '' ||
		url.password !== '' ||
		hostname === '' ||
		isPrivateHost(hostname) ||
		linkHosts.some((host) => hostnameOf(host) === hostname);
	return isRefused ? null : url.href;
};

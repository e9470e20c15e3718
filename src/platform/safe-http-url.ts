import ipaddr from 'ipaddr.js';
import {hasControlCharacters} from './text.ts';

const URL_LIMIT = 2048;

const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');

/** True for a host on this machine or a private network, by name or address. */
const isPrivateHost = (hostname: string): boolean => {
	// The URL parser normalizes IPv4 addresses and brackets all others. Testing a name with ipaddr.js is slow, because it
	// throws internally.
	if (/^(?:\[.*\]|[\d.]+)$/.test(hostname)) {
		const address = hostname.replace(/^\[(.*)\]$/, '$1');
		return !ipaddr.isValid(address) || ipaddr.process(address).range() !== 'unicast';
	}

	return hostname === 'localhost' || hostname.endsWith('.localhost');
};

/**
 * A URL that is safe as a link's destination or image, as normalized by the URL parser: http or https, without
 * credentials, neither on a private host nor on one of `linkHosts` (a loop). Null for any other (contract/links 10).
 */
export const safeHttpUrl = (raw: string, {linkHosts}: {linkHosts: readonly string[]}): string | null => {
	const text = raw.trim();
	// Parsers drop control characters and accept `https:host`, so both are refused before parsing.
	if (text.length > URL_LIMIT || hasControlCharacters(raw) || !/^https?:\/\//i.test(text)) {
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

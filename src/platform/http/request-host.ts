import {isIPv6} from 'node:net';
import ipaddr from 'ipaddr.js';
import {memoize} from '../memoize.ts';

/** The role of a host: which surfaces it serves (contract/hosts 2). `other` may be a custom domain, which a look-up decides. */
export type HostRole = 'api' | 'link' | 'both' | 'other';

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

const isPort = (text: string | undefined): boolean =>
	text === undefined || text === '' || (/^\d{1,5}$/.test(text) && Number(text) <= 65_535);

const parse = (hostHeader: string): string | null => {
	const host = hostHeader.trim().toLowerCase();
	const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(host);
	if (bracketed) {
		const [, address = '', port] = bracketed;
		return isIPv6(address) && !address.includes('%') && isPort(port) ? `[${ipaddr.parse(address).toString()}]` : null;
	}

	const [name = '', port, ...rest] = host.split(':');
	const hostname = name.endsWith('.') ? name.slice(0, -1) : name;
	const isName = hostname.length <= 253 && hostname.split('.').every((label) => LABEL.test(label));
	return isName && isPort(port) && rest.length === 0 ? hostname : null;
};

const hostnames = memoize(parse);

/**
 * The name in a Host header: lower case, without port and trailing dot, an IPv6 address in brackets and as of RFC 5952.
 * Null if it is missing or malformed.
 */
export const hostnameOf = (hostHeader = ''): string | null => hostnames(hostHeader);

/** Whether a hostname (of hostnameOf) is the machine itself under one of the names of contract/hosts 2. */
export const isLoopbackName = (hostname: string): boolean => LOOPBACK_NAMES.has(hostname);

/**
 * Decides the role of a host. A loopback name counts as the API host, and as the shared link domain if that is a
 * loopback name too.
 * @param publicUrl base URL of the API host. @param linkDomain shared link domain, its port included or not.
 * @param aliases hosts that serve what it serves.
 */
export const createHostRoles = ({
	publicUrl,
	linkDomain,
	aliases = [],
}: {
	publicUrl: string;
	linkDomain: string;
	aliases?: readonly string[];
}) => {
	const apiHost = hostnameOf(new URL(publicUrl).host);
	const linkHost = hostnameOf(linkDomain);
	const isLinkHostLoopback = linkHost !== null && isLoopbackName(linkHost);

	return {
		roleOf: (hostname: string | null): HostRole => {
			if (hostname === null) {
				return 'other';
			}

			const isLoopback = isLoopbackName(hostname);
			const isApi = isLoopback || hostname === apiHost;
			const isLink = hostname === linkHost || aliases.includes(hostname) || (isLoopback && isLinkHostLoopback);
			if (isApi) {
				return isLink ? 'both' : 'api';
			}

			return isLink ? 'link' : 'other';
		},
	};
};

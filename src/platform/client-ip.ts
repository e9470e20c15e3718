import type {IncomingMessage} from 'node:http';
import {isIP, isIPv4} from 'node:net';
import ipaddr from 'ipaddr.js';
import {hostnameOf} from './http/request-host.ts';
import {memoize} from './memoize.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Scheme and host as trusted proxies report them; null without a report or a trusted proxy. */
type Forwarded = {trusted: boolean; proto: 'http' | 'https' | null; host: string | null};

const MAX_JUDGED = 10_000;
// The address of a peer whose socket is already closed.
const UNKNOWN = '0.0.0.0';
// RFC 6052 2.1: the addresses that a translator gives to IPv4 callers.
const NAT64: Range = [ipaddr.parse('64:ff9b::'), 96];

/** An address in normal form, or null: IPv4 without its IPv6 mapping (RFC 4291 2.5.5.2), no zone, RFC 5952. */
const normalForm = (text: string): string | null => {
	const mapped = text.startsWith('::ffff:') ? text.slice(7) : text;
	if (isIPv4(mapped)) {
		return mapped;
	}

	const [address = ''] = text.split('%', 1);
	return isIP(address) === 0 ? null : ipaddr.process(address).toString();
};

/** An IPv4 address in an IPv6 one as itself. */
export const plainIp = (ip: string): string =>
	ip.includes(':') && (ip.includes('.') || /^::ffff:/i.test(ip)) ? ipaddr.process(ip).toString() : ip;

/** The IPv4 caller behind a NAT64 address. RFC 6052 3.1: the prefix stands for public addresses only. */
const untranslated = (ip: string): string => {
	if (!ip.startsWith('64:ff9b::')) {
		return ip;
	}

	const address = ipaddr.parse(ip);
	if (!address.match(NAT64)) {
		return ip;
	}

	const caller = new ipaddr.IPv4(address.toByteArray().slice(12));
	return caller.range() === 'unicast' ? caller.toString() : ip;
};

/** The range that a CIDR or a single address names, or null. A range inside the IPv4 mapping is an IPv4 range. */
export const rangeOf = (text: string): Range | null => {
	const [ip = '', bits, ...rest] = text.split('/');
	const width = {0: 0, 4: 32, 6: 128}[isIP(ip)] ?? 0;
	const isNumber = bits === undefined || /^\d{1,3}$/.test(bits);
	const prefix = Number(bits ?? width);
	if (width === 0 || ip.includes('%') || rest.length > 0 || !isNumber || prefix > width) {
		return null;
	}

	const address = ipaddr.parse(ip);
	return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96
		? [address.toIPv4Address(), prefix - 96]
		: [address, prefix];
};

/** Whether an entry of TRUSTED_PROXIES (contract/operations 7) is a CIDR or a single address. */
export const isProxyRange = (entry: string): boolean => rangeOf(entry) !== null;

/** Whether an address is the machine itself: 127.0.0.0/8 or ::1, in any spelling. */
export const isLoopback = (ip: string): boolean => {
	const normal = normalForm(ip);
	return normal !== null && (normal === '::1' || (isIPv4(normal) && normal.startsWith('127.')));
};

/** The elements of a list header, its lines in order (RFC 9110 5.3), without empty ones (5.6.1.2). */
const listOf = (header: string | string[] | undefined): string[] =>
	[header ?? []]
		.flat()
		.join(',')
		.split(',')
		.map((entry) => entry.trim())
		.filter((entry) => entry !== '');

/** The address of an X-Forwarded-For entry, which some proxies write with a port, brackets or quotes; or null. */
const addressOfEntry = (entry: string): string | null => {
	const bare = entry.replace(/^"(.*)"$/, '$1');
	const ip = /^\[([^\]]+)\](?::\d+)?$/.exec(bare)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ?? bare;
	return normalForm(ip);
};

/**
 * Reads the caller's address from the socket and, behind trusted proxies only, from X-Forwarded-*.
 * @param trustedProxies CIDRs and addresses that are isProxyRange.
 */
export const createClientIp = (trustedProxies: string[]) => {
	const ranges = trustedProxies.map(rangeOf).filter((range) => range !== null);

	const isTrusted = memoize((ip) => {
		const address = ipaddr.parse(ip);
		return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits]));
	}, MAX_JUDGED);

	const peerOf = (request: IncomingMessage): string => normalForm(request.socket.remoteAddress ?? '') ?? UNKNOWN;

	/**
	 * Walks from the socket towards the caller while the hop is a trusted proxy, whose entry names its own caller. `hops`
	 * is the number of entries used. Entries further left are unverified claims.
	 */
	const walk = (request: IncomingMessage): {ip: string; hops: number} => {
		let ip = peerOf(request);
		let hops = 0;
		if (!isTrusted(ip)) {
			return {ip, hops};
		}

		const header = request.headers['x-forwarded-for'];
		// The usual case: one proxy, which sends one address.
		if (typeof header === 'string' && isIPv4(header)) {
			return {ip: header, hops: 1};
		}

		for (const entry of listOf(header).reverse()) {
			const next = isTrusted(ip) ? addressOfEntry(entry) : null;
			if (next === null) {
				break;
			}

			ip = next;
			hops += 1;
		}

		return {ip, hops};
	};

	const forwarded = (request: IncomingMessage): Forwarded => {
		const {headers} = request;
		if (!isTrusted(peerOf(request))) {
			return {trusted: false, proto: null, host: null};
		}

		const {hops} = walk(request);
		const outermost = (header: string | string[] | undefined): string | null => {
			const list = listOf(header);
			return list[Math.max(0, list.length - Math.max(1, hops))] ?? null;
		};
		const proto = outermost(headers['x-forwarded-proto'])?.toLowerCase();
		const host = outermost(headers['x-forwarded-host']);
		return {
			trusted: true,
			proto: proto === 'http' || proto === 'https' ? proto : null,
			host: host !== null && hostnameOf(host) !== null ? host : null,
		};
	};

	return {
		/** Whether the socket's peer is one of the proxies, whose headers are trusted. */
		isTrustedPeer: (request: IncomingMessage): boolean => isTrusted(peerOf(request)),

		/** The caller's address: the right-most hop that is not a trusted proxy. IPv4, or IPv6 as of RFC 5952. */
		ip: (request: IncomingMessage): string => untranslated(walk(request).ip),

		/**
		 * Scheme and host (with its port) as the caller wrote them. If several proxies added an element each, that of
		 * the outermost trusted one counts.
		 */
		forwarded,

		/** The requested host name (of `hostnameOf`): as a trusted proxy forwards it, else of the Host header. */
		hostname: (request: IncomingMessage): string | null => {
			const host = request.headers['x-forwarded-host'] === undefined ? null : forwarded(request).host;
			return hostnameOf(host ?? request.headers.host);
		},
	};
};

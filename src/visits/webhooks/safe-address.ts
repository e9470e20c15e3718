import {lookup as lookupBySystem, Resolver} from 'node:dns/promises';
import {isIP} from 'node:net';
import ipaddr from 'ipaddr.js';
import {rangeOf} from '../../platform/client-ip.ts';
import {validationFailed} from '../../platform/errors.ts';
import {hasControlCharacters} from '../../platform/text.ts';

/** Where deliveries may go. */
export type AddressRules = {
	/** CIDRs that are allowed although they are not public. */
	networks: readonly string[];
	/** Resolvers to ask instead of the system. */
	dnsServers: readonly string[];
	/** Without it `http:` is allowed to this machine. */
	isProduction: boolean;
};

/** @param fault the rule that the URL breaks, after its name. */
export const unsafeWebhookUrl = (fault: string) => validationFailed([{field: 'url', message: `url ${fault}`}]);

type Address = {address: string; family: 4 | 6};

/** NAT64's well-known prefix (RFC 6052): its target is the IPv4 address at its end. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');
/** Global unicast (RFC 4291, 2.4): everything else of IPv6 is local, reserved or a tunnel. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** The address that is reached in the end. */
const unwrapped = (text: string): ipaddr.IPv4 | ipaddr.IPv6 => {
	const address = ipaddr.process(text);
	return address.kind() === 'ipv6' && address.match(NAT64)
		? ipaddr.fromByteArray(address.toByteArray().slice(12))
		: address;
};

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
	address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST));

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, networks: readonly string[]): boolean =>
	networks.some((network) => {
		const [range, bits] = rangeOf(network) ?? [];
		return range !== undefined && range.kind() === address.kind() && address.match(range, bits ?? 0);
	});

const isLoopback = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean => address.range() === 'loopback';

const hostOf = ({hostname}: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Whether the URL is one of those to this machine that development allows. */
const isLocal = (url: URL, {isProduction}: AddressRules): boolean => url.protocol === 'http:' && !isProduction;

/** The part of the rules that needs no DNS. @throws 400. */
export const requireWebhookUrl = (raw: string, rules: AddressRules): URL => {
	if (!URL.canParse(raw)) {
		throw unsafeWebhookUrl('must be a URL');
	}

	if (hasControlCharacters(raw)) {
		throw unsafeWebhookUrl('must have no control characters');
	}

	const url = new URL(raw);
	if (url.protocol !== 'https:' && !isLocal(url, rules)) {
		throw unsafeWebhookUrl('must begin with https://');
	}

	if (url.username !== '' || url.password !== '') {
		throw unsafeWebhookUrl('must have no user name and no password');
	}

	if (url.protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
		throw unsafeWebhookUrl('must begin with https:// unless it is on this machine');
	}

	const host = hostOf(url);
	if (isIP(host) !== 0 && !isAllowed(host, url, rules)) {
		throw unsafeWebhookUrl(`must not be at ${host}, which is not a public address`);
	}

	return url;
};

const isAllowed = (text: string, url: URL, rules: AddressRules): boolean => {
	const address = unwrapped(text);
	return isPublic(address) || isWithin(address, rules.networks) || (isLocal(url, rules) && isLoopback(address));
};

const resolve = async (host: string, servers: readonly string[]): Promise<Address[]> => {
	if (servers.length === 0 || host === 'localhost') {
		const found = await lookupBySystem(host, {all: true});
		return found.map(({address, family}) => ({address, family: family === 6 ? 6 : 4}));
	}

	const resolver = new Resolver({timeout: 3000, tries: 2});
	resolver.setServers([...servers]);
	const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
	const found = [
		...(four.status === 'fulfilled' ? four.value.map((address): Address => ({address, family: 4})) : []),
		...(six.status === 'fulfilled' ? six.value.map((address): Address => ({address, family: 6})) : []),
	];
	if (found.length === 0 && four.status === 'rejected') {
		throw four.reason;
	}

	return found;
};

/** Why a connection is refused, for the list of attempts. */
export class UnsafeAddressError extends Error {
	override name = 'UnsafeAddressError';
}

/**
 * The addresses of a URL's host, all of which are allowed: one that is not refuses the others with it. The connection goes
 * to one of those: a second answer of DNS changes nothing.
 * @throws UnsafeAddressError; DNS's own error.
 */
export const resolveSafely = async (url: URL, rules: AddressRules): Promise<Address[]> => {
	const host = hostOf(url);
	const family = isIP(host);
	const found: Address[] =
		family === 0 ? await resolve(host, rules.dnsServers) : [{address: host, family: family === 6 ? 6 : 4}];
	const refused = found.find(({address}) => !isAllowed(address, url, rules));
	if (refused !== undefined) {
		throw new UnsafeAddressError(`${host} is at ${refused.address}, which is not a public address`);
	}

	return found;
};

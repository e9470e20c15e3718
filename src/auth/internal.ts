import {isIPv4} from 'node:net';
import {unknownPath} from '../errors.ts';
import {isLoopback} from '../http/client-ip.ts';
import {hostnameOf} from '../http/request-host.ts';
import type {RequestFacts} from '../http/route.ts';
import type {Services} from '../services.ts';
import {isAdmin} from './credentials.ts';

/** What proxies add to requests that they forward. One that asks for itself sends none of them. */
const FORWARDED_BY = [
	'cf-connecting-ip',
	'cf-ray',
	'forwarded',
	'true-client-ip',
	'via',
	'x-client-ip',
	'x-forwarded-for',
	'x-forwarded-host',
	'x-forwarded-proto',
	'x-real-ip',
];

/** Suffixes of names that only a private network knows. */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'svc'];

/**
 * Whether a host is named as one names it from within: by an address, a name of one label such as a container's, or one
 * of a private network. The names that the world calls are no such names: who comes by one was forwarded by a proxy that
 * does not say so, or is a page that had its own name point here.
 */
const isInnerName = (hostname: string | null): boolean =>
	hostname !== null &&
	(hostname.startsWith('[') ||
		isIPv4(hostname) ||
		!hostname.includes('.') ||
		PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(`.${suffix}`)));

/**
 * Keeps a route to this machine and the proxies in front of it, and to the operator: a peer that is loopback or a
 * trusted proxy, forwards for nobody and asks by an inner name, or the admin token (contract/operations 2). @throws 404
 * for anybody else.
 */
export const requireInternal = (
	{clientIp, adminToken}: Pick<Services, 'clientIp' | 'adminToken'>,
	{stream, headers}: RequestFacts,
): void => {
	const isNear = clientIp.isTrustedPeer(stream) || isLoopback(stream.socket.remoteAddress ?? '');
	const forwardsForNobody =
		FORWARDED_BY.every((name) => headers[name] === undefined) && isInnerName(hostnameOf(headers.host));
	if (!(isNear && forwardsForNobody) && !isAdmin(adminToken, headers.authorization)) {
		throw unknownPath();
	}
};

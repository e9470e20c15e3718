import {isIPv4} from 'node:net';
import {isLoopback} from '../../platform/client-ip.ts';
import {unknownPath} from '../../platform/errors.ts';
import {hostnameOf} from '../../platform/http/request-host.ts';
import type {RequestFacts} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {isAdmin} from './operator-access.ts';

/** Headers that proxies add to forwarded requests and never send with their own. */
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

/** Suffixes of names in private networks. */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'svc'];

/**
 * Whether a host is an internal name: an address, a single label such as a container's, or a name of a private network.
 * A public name means that a proxy forwarded the request without saying so, or that a page rebound its own name to this
 * address.
 */
const isInnerName = (hostname: string | null): boolean =>
	hostname !== null &&
	(hostname.startsWith('[') ||
		isIPv4(hostname) ||
		!hostname.includes('.') ||
		PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(`.${suffix}`)));

/**
 * Restricts a route to this machine, its proxies and the operator: a peer that is loopback or a trusted proxy, does not
 * forward and uses an internal name, or the admin token (contract/operations 2).
 * @throws 404 for anybody else.
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

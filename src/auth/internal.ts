import {unknownPath} from '../errors.ts';
import {isLoopback} from '../http/client-ip.ts';
import type {RequestFacts} from '../http/route.ts';
import type {Services} from '../services.ts';
import {isAdmin} from './credentials.ts';

/**
 * Keeps a route to this machine and the proxies in front of it, and to the operator: a peer that is loopback or a
 * trusted proxy and forwards for nobody, or the admin token (decisions 11). @throws 404 for anybody else.
 */
export const requireInternal = ({clientIp, adminToken}: Services, {stream, headers}: RequestFacts): void => {
	const isNear = clientIp.isTrustedPeer(stream) || isLoopback(stream.socket.remoteAddress ?? '');
	const forwardsForNobody = headers['x-forwarded-for'] === undefined;
	if (!(isNear && forwardsForNobody) && !isAdmin(adminToken, headers.authorization)) {
		throw unknownPath();
	}
};

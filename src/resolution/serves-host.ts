import type {IncomingMessage} from 'node:http';
import {findServedDomain} from '../domains/served-domain.ts';
import {unknownPath} from '../errors.ts';
import type {Route} from '../http/route.ts';
import {limitSubjectOf, limits} from '../limits/limits.ts';
import type {Services} from '../services.ts';

/**
 * An uncached name costs a database lookup before any route limit applies, so it counts as a visit of the caller's
 * address. Beyond that limit an uncached name is treated as unknown, because a route without a limit has no 429.
 * @throws 404.
 */
const admitUnknownHost = async (
	{limiter, clientIp, metrics}: Pick<Services, 'limiter' | 'clientIp' | 'metrics'>,
	request: IncomingMessage,
): Promise<void> => {
	const wait = await limiter.take(limits.resolution, limitSubjectOf(clientIp.ip(request)));
	if (wait > 0) {
		metrics.rateLimited(limits.resolution.name);
		throw unknownPath();
	}
};

/** Which surface serves a request's host (contract/hosts 4): API routes are unknown on a link domain. */
export const serves = (
	services: Services,
	route: Route,
	hostname: string | null,
	request: IncomingMessage,
): boolean | Promise<boolean> => {
	if (route.host !== 'api') {
		return true;
	}

	const role = services.hostRoles.roleOf(hostname);
	return role === 'other' && hostname !== null
		? findServedDomain(services, hostname, () => admitUnknownHost(services, request)).then((domain) => domain === null)
		: role !== 'link';
};

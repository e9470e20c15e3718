import type {IncomingMessage} from 'node:http';
import {findServedDomain} from '../domains/served-domain.ts';
import {unknownPath} from '../errors.ts';
import type {Route} from '../http/route.ts';
import {limitSubjectOf} from '../limits/limit-subject.ts';
import {limits} from '../limits/limits.ts';
import type {Services} from '../services.ts';

/**
 * A name that is not in memory costs a look into the database, which comes before any limit of a route: it counts as a
 * visit of the caller's address. Past that limit a name that nobody remembers serves nothing. A route without a limit has no 429.
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

/** Which surface a request's host serves (contract/hosts 4): API routes are unknown on a link domain. */
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

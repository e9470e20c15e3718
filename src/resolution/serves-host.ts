import type {IncomingMessage} from 'node:http';
import type {VerifiedDomain} from '../domains/domain-store.ts';
import {findServedDomain} from '../domains/served-domain.ts';
import {HttpError, unknownPath} from '../errors.ts';
import type {Route} from '../http/route.ts';
import {decidedWaits} from '../limits/limiter.ts';
import {limitSubjectOf, limits} from '../limits/limits.ts';
import type {Services} from '../services.ts';
import {findOwnDomain, type HostDeps} from './locate.ts';

type AdmitDeps = Pick<Services, 'limiter' | 'clientIp' | 'metrics'>;

/** The dependencies of finding the organization of a request's host. */
export type RequestHostDeps = HostDeps & AdmitDeps;

/**
 * An uncached name costs a database lookup before any route limit applies, so it counts as a visit of the caller's
 * address, once. Beyond that limit an uncached name is treated as unknown, because a route without a limit has no 429.
 * @throws 404.
 */
export const admitUnknown = async (
	{limiter, clientIp, metrics}: AdmitDeps,
	request: IncomingMessage,
): Promise<void> => {
	const decided = decidedWaits.get(request);
	const limit = limits.resolution;
	const wait =
		decided?.limit === limit ? decided.wait : await limiter.take(limit, limitSubjectOf(clientIp.ip(request)));
	decidedWaits.set(request, {limit, wait});
	if (wait > 0) {
		metrics.rateLimited(limits.resolution.name);
		throw unknownPath();
	}
};

/** Which surface serves a request's host (contract/hosts 4): API routes are unknown on a link domain. */
export const serves = (
	services: RequestHostDeps,
	route: Route,
	hostname: string | null,
	request: IncomingMessage,
): boolean | Promise<boolean> => {
	if (route.host !== 'api') {
		return true;
	}

	const role = services.hostRoles.roleOf(hostname);
	return role === 'other' && hostname !== null
		? findServedDomain(services, hostname, () => admitUnknown(services, request)).then((domain) => domain === null)
		: role !== 'link';
};

/**
 * The custom domain that a request's host names, before its route is known; null for any other host. Beyond the limit it
 * is null too, and the route decides what the caller gets.
 */
export const domainOfHost = (
	services: RequestHostDeps,
	hostname: string | null,
	request: IncomingMessage,
): Promise<VerifiedDomain | null> =>
	findOwnDomain(services, hostname, () => admitUnknown(services, request)).catch((error: unknown) => {
		if (error instanceof HttpError) {
			return null;
		}

		throw error;
	});

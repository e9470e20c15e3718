import type {Route} from '../../accounts/route.ts';
import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import {findOwnDomain, type HostDeps} from '../../links/domains/locate.ts';
import {findServedDomain} from '../../links/domains/served-domain.ts';
import {HttpError, unknownPath} from '../../platform/errors.ts';
import type {Exchange} from '../../platform/http/exchange.ts';
import {limitSubjectOf, limits} from '../../platform/limits/limits.ts';
import type {Services} from '../../services.ts';

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
	{req, state}: Pick<Exchange, 'req' | 'state'>,
): Promise<void> => {
	const wait = state.visitWait ?? (await limiter.take(limits.resolution, limitSubjectOf(clientIp.ip(req))));
	state.visitWait = wait;
	if (wait > 0) {
		metrics.rateLimited(limits.resolution.name);
		throw unknownPath();
	}
};

/** Which surface serves a request's host (contract/hosts 4): API routes are unknown on a link domain. */
export const serves = (
	services: RequestHostDeps,
	route: Route,
	ctx: Pick<Exchange, 'req' | 'state'>,
): boolean | Promise<boolean> => {
	if (route.host !== 'api') {
		return true;
	}

	const {hostname} = ctx.state;
	const role = services.hostRoles.roleOf(hostname);
	return role === 'other' && hostname !== null
		? findServedDomain(services, hostname, () => admitUnknown(services, ctx)).then((domain) => domain === null)
		: role !== 'link';
};

/**
 * The custom domain that a request's host names, before its route is known; null for any other host. Beyond the limit it
 * is null too, and the route decides what the caller gets.
 */
export const domainOfHost = (
	services: RequestHostDeps,
	ctx: Pick<Exchange, 'req' | 'state'>,
): Promise<VerifiedDomain | null> =>
	findOwnDomain(services, ctx.state.hostname, () => admitUnknown(services, ctx)).catch((error: unknown) => {
		if (error instanceof HttpError) {
			return null;
		}

		throw error;
	});

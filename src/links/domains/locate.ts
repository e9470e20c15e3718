import {ORG_KEY} from '../../accounts/organizations/org-key.ts';
import {hasFeature, type PlanDeps} from '../../accounts/plans/entitlements.ts';
import {linkNotFound, unknownLinkDomain, unknownPath, validationFailed} from '../../platform/errors.ts';
import type {HostRole} from '../../platform/http/request-host.ts';
import type {Services} from '../../services.ts';
import {findVerifiedDomain, type VerifiedDomain} from './domain-store.ts';

/**
 * First segments that every host serves itself: association files, and the paths of monitors and proxies. No prefix begins
 * with one, and requests for them need no look-up of their host.
 */
export const servedOnEveryHost: ReadonlySet<string> = new Set(['.well-known', 'health', 'internal', 'metrics']);

/**
 * A path without the domain's prefix before the code (contract/hosts 8); null if it has none. Of several prefixes the
 * longest counts. A prefix with nothing behind it, or with `/data` alone, is read as a code itself.
 * @param path as sent, beginning with a slash.
 */
export const pathBehindPrefix = (prefixes: readonly string[], path: string): string | null => {
	let longest: string | null = null;
	for (const prefix of prefixes) {
		const rest = path.startsWith(`/${prefix}/`) ? path.slice(prefix.length + 1) : '/';
		if (!/^\/(?:data\/?)?$/.test(rest) && (longest === null || rest.length < longest.length)) {
			longest = rest;
		}
	}

	return longest;
};

export type ServedDomainDeps = PlanDeps & Pick<Services, 'db' | 'hostCache'>;

/**
 * The custom domain currently served under a host name, needed for every request to another host than ours. The domain
 * and its organization's plan are cached; whether the plan has custom domains is decided at each request, because it
 * may expire without a write (contract/billing 3).
 * @param before runs before the database query and may refuse, because a caller may send any name.
 */
export const findServedDomain = async (
	services: ServedDomainDeps,
	hostname: string,
	before: () => Promise<void> = async () => {},
): Promise<VerifiedDomain | null> => {
	const {db, hostCache} = services;
	const domain = await hostCache.get(hostname, async () => {
		await before();
		return findVerifiedDomain(db, hostname);
	});
	return domain !== null && hasFeature(services, domain, 'custom_domains') ? domain : null;
};

/** The dependencies of finding a link by the request's host. */
export type HostDeps = ServedDomainDeps & Pick<Services, 'hostRoles'>;

/** A link's code and its organization's key, which on a custom domain follows from the domain. */
export type Address = {orgKey: string; shortCode: string};

/** The segments of a resolution path. A path of one segment has no `orgKey`. */
export type ResolutionPath = {orgKey?: string; shortCode: string; data: boolean};

/** The custom domain that a host names; null for a host of ours, and for an unknown one. */
export const findOwnDomain = async (
	services: HostDeps,
	hostname: string | null,
	before?: () => Promise<void>,
): Promise<VerifiedDomain | null> =>
	hostname === null || services.hostRoles.roleOf(hostname) !== 'other'
		? null
		: findServedDomain(services, hostname, before);

/**
 * The link that a path names on a host, and whether its data is requested (contract/hosts 4). On a custom domain
 * `/:shortCode/data` looks like an orgKey and a code; it is one only if it begins with the domain's own orgKey.
 * @param domain the custom domain of a host with the role `other`; null for an unknown one.
 * @throws 400 for a malformed orgKey; 404 for an unknown host, or another organization's orgKey on a custom domain.
 */
export const addressOn = (
	{role, domain}: {role: HostRole; domain: VerifiedDomain | null},
	{orgKey, shortCode, data}: ResolutionPath,
): {address: Address; data: boolean} => {
	const mayBeBareData = role === 'other' && shortCode === 'data' && !data;
	if (orgKey !== undefined && !ORG_KEY.test(orgKey) && !mayBeBareData) {
		throw validationFailed([{message: 'orgKey must be exactly 4 alphanumeric characters', field: 'orgKey'}]);
	}

	if (role === 'link' || role === 'both') {
		if (orgKey === undefined) {
			throw unknownPath();
		}

		return {address: {orgKey, shortCode}, data};
	}

	if (domain === null) {
		throw orgKey === undefined ? unknownPath() : unknownLinkDomain();
	}

	if (orgKey === undefined || orgKey === domain.orgKey) {
		return {address: {orgKey: domain.orgKey, shortCode}, data};
	}

	if (mayBeBareData) {
		return {address: {orgKey: domain.orgKey, shortCode: orgKey}, data: true};
	}

	throw linkNotFound();
};

/** As `addressOn`, by the name of a host. */
export const locate = async (
	services: HostDeps,
	hostname: string | null,
	path: ResolutionPath,
): Promise<{address: Address; data: boolean}> =>
	addressOn({role: services.hostRoles.roleOf(hostname), domain: await findOwnDomain(services, hostname)}, path);

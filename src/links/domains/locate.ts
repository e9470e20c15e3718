import {ORG_KEY} from '../../accounts/organizations/org-key.ts';
import {linkNotFound, unknownLinkDomain, unknownPath, validationFailed} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {VerifiedDomain} from './domain-store.ts';
import {findServedDomain, type ServedDomainDeps} from './served-domain.ts';

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
 * Finds the link that a host and a path name, and whether its data is requested (contract/hosts 4). On a custom domain
 * `/:shortCode/data` looks like an orgKey and a code; it is one only if it begins with the domain's own orgKey.
 * @throws 400 for a malformed orgKey, before any lookup; 404 for an unknown host, or another organization's orgKey on a
 * custom domain.
 */
export const locate = async (
	services: HostDeps,
	hostname: string | null,
	{orgKey, shortCode, data}: ResolutionPath,
): Promise<{address: Address; data: boolean}> => {
	const role = services.hostRoles.roleOf(hostname);
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

	const domain = await findOwnDomain(services, hostname);
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

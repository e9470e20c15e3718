import type {Services} from '../../services.ts';
import {type FetchDeps, fetchOnDemand} from '../identity/fetch-on-demand.ts';
import {discardOrganization} from '../identity/mirror-organization.ts';
import type {ProviderMembership, ProviderOrganization} from '../identity/provider-client.ts';
import {createTombstoneStore} from '../identity/tombstone-store.ts';
import type {SignedIn} from './onboarding-state.ts';

export type OnboardingDeps = FetchDeps & Pick<Services, 'config'>;

/** An attempt to create an organization of that name. */
export type Founding = SignedIn & {name: string};

/** Names are compared case-insensitively (contract/portal 3). */
export const isNamed = (organization: ProviderOrganization, name: string): boolean =>
	organization.name.toLowerCase() === name.toLowerCase();

/**
 * Removes an organization whose creation failed. It is discarded first: then its events leave nothing here, and if the
 * provider fails now, the user's next attempt removes it there. Errors are only logged.
 */
export const rollBackCreation = async (
	services: OnboardingDeps,
	{by}: SignedIn,
	organizationId: string,
): Promise<void> => {
	const {log, provider} = services;
	await discardOrganization(services, by, organizationId).catch((error: unknown) => {
		log.error({err: error, organizationId}, 'could not record that an organization was abandoned');
	});
	await provider.deleteOrganization(organizationId).catch((error: unknown) => {
		log.error({err: error, organizationId}, 'could not delete an abandoned organization');
	});
};

/** The user's organizations at the provider, after removing abandoned ones. @throws 502. */
export const readMemberships = async (services: OnboardingDeps, userId: string): Promise<ProviderMembership[]> => {
	const {provider, db} = services;
	const kept: ProviderMembership[] = [];
	for (const membership of await provider.listMembershipsOfUser(userId)) {
		const {organizationId} = membership;
		if (await createTombstoneStore(db).isOrganizationDiscarded(organizationId)) {
			await provider.deleteOrganization(organizationId);
		} else {
			kept.push(membership);
		}
	}

	return kept;
};

/** Mirrors the user's memberships from the provider if no event has arrived yet. */
export const mirrorMemberships = async (
	services: OnboardingDeps,
	{session: {userId}, by}: SignedIn,
	memberships: ProviderMembership[],
): Promise<void> => {
	for (const {organizationId} of memberships) {
		// The ops organization is not a customer, so it is not mirrored.
		if (organizationId !== services.config.opsOrgId) {
			await fetchOnDemand(services, {by, organizationId, userId});
		}
	}
};

/**
 * The orphan at the provider of an interrupted attempt like this one: an organization of this name that the user
 * created there and without other members.
 */
export const unfinishedOf = (
	memberships: ProviderMembership[],
	{session, name}: Founding,
): ProviderOrganization | null => {
	const [only, ...others] = memberships;
	const organization = only?.organization ?? null;
	const isOurs =
		others.length === 0 &&
		organization?.createdBy === session.userId &&
		isNamed(organization, name) &&
		(only?.role === null || only?.role === 'owner');
	return isOurs ? organization : null;
};

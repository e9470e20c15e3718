import {withLease} from '../../platform/db/lease.ts';
import {alreadyInOrganization, providerUnavailable} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {findOwnOrganization} from '../auth/access-store.ts';
import {type FetchDeps, fetchOnDemand} from '../identity/fetch-on-demand.ts';
import {inMirror} from '../identity/mirror.ts';
import {mirrorMember} from '../identity/mirror-member.ts';
import {discardOrganization, mirrorOrganization} from '../identity/mirror-organization.ts';
import {mirrorUser} from '../identity/mirror-user.ts';
import type {ProviderMembership, ProviderOrganization, ProviderUser} from '../identity/provider-client.ts';
import {createTombstoneStore} from '../identity/tombstone-store.ts';
import {isUnanswered, undoIfFailed} from '../identity/unanswered.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {SignedIn} from './onboarding-state.ts';

export type OnboardingDeps = FetchDeps & Pick<Services, 'config'>;

/** An attempt to create an organization of that name. */
export type CreationAttempt = SignedIn & {name: string};

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
 * The organization that an interrupted attempt left at the provider: created by this user under this name, and without
 * other members.
 */
export const unfinishedOf = (
	memberships: ProviderMembership[],
	{session, name}: CreationAttempt,
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

/** Creates the organization at the provider. If the outcome is unknown, removes the organization that may exist. @throws 502. */
const createAtProvider = async (services: OnboardingDeps, founding: CreationAttempt): Promise<ProviderOrganization> => {
	const {provider, log} = services;
	const {session, name} = founding;
	try {
		return await provider.createOrganization({name, createdBy: session.userId});
	} catch (error) {
		// The user had none before, so any organization there now was created here.
		const made = isUnanswered(error)
			? await provider.listMembershipsOfUser(session.userId).catch((failure: unknown) => {
					log.warn({err: failure}, 'could not check whether an organization was created');
					return [];
				})
			: [];
		for (const {organization} of made) {
			if (organization?.createdBy === session.userId && isNamed(organization, name)) {
				await rollBackCreation(services, founding, organization.id);
			}
		}

		throw error;
	}
};

type CreatedRecords = {organization: ProviderOrganization; user: ProviderUser | null; membership: ProviderMembership};

/** Organization, user and owner in one transaction. @throws 409 if the name or the user was taken meanwhile. */
const mirrorMade = (
	services: OnboardingDeps,
	{session, by}: CreationAttempt,
	made: CreatedRecords,
): Promise<Organization> =>
	inMirror(services, by, async (mirror) => {
		const organization = await mirrorOrganization(mirror, made.organization, 'updated', {requireOwnName: true});
		const own = await findOwnOrganization(mirror.trx, session.userId);
		if (own !== null && own.id !== organization?.id) {
			throw alreadyInOrganization();
		}

		if (made.user !== null) {
			await mirrorUser(mirror, made.user, 'updated');
		}

		const membership = {...made.membership, organization: made.organization};
		const member =
			organization === null
				? null
				: await mirrorMember(mirror, {organization, membership, role: 'owner', kind: 'updated'});
		if (organization === null || member === null) {
			// It was deleted at the provider during the creation.
			throw providerUnavailable();
		}

		return (await findOwnOrganization(mirror.trx, session.userId)) ?? organization;
	});

/** Makes an organization at the provider the caller's own, there and here. @throws 409, 502. */
const finish = async (
	services: OnboardingDeps,
	founding: CreationAttempt,
	{organization, user}: Pick<CreatedRecords, 'organization' | 'user'>,
): Promise<Organization> => {
	const membership = await services.provider.stampRole(organization.id, founding.session.userId, 'owner');
	if (membership === null) {
		// The creator of an organization is its member while both exist.
		throw providerUnavailable();
	}

	return mirrorMade(services, founding, {organization, user, membership});
};

const found = async (services: OnboardingDeps, founding: CreationAttempt): Promise<Organization> => {
	const {provider, db} = services;
	const {userId} = founding.session;
	if ((await findOwnOrganization(db, userId)) !== null) {
		throw alreadyInOrganization();
	}

	const memberships = await readMemberships(services, userId);
	const unfinished = unfinishedOf(memberships, founding);
	if (memberships.length > 0 && unfinished === null) {
		await mirrorMemberships(services, founding, memberships);
		throw alreadyInOrganization();
	}

	const user = await provider.getUser(userId);
	if (unfinished !== null) {
		// Not created by this attempt, so it must not be removed: whatever is refused, the user keeps it.
		const finished = finish(services, founding, {organization: unfinished, user});
		return undoIfFailed(finished, () => mirrorMemberships(services, founding, memberships));
	}

	const organization = await createAtProvider(services, founding);
	const finished = finish(services, founding, {organization, user});
	return undoIfFailed(finished, () => rollBackCreation(services, founding, organization.id));
};

/**
 * Creates the caller's organization, with the caller as its owner: at the provider, and here in one transaction
 * (contract/portal 3). A user's attempts run one at a time; a failed one leaves nothing on either side.
 * @throws 409 if the caller belongs to an organization or the name is in use; the provider's refusals; 502.
 */
export const createOwnOrganization = (services: OnboardingDeps, founding: CreationAttempt): Promise<Organization> =>
	withLease(services, `create-organization:${founding.session.userId}`, () => found(services, founding));

import {withLease} from '../db/lease.ts';
import {alreadyInOrganization, providerUnavailable} from '../errors.ts';
import {fetchOnDemand} from '../identity/fetch-on-demand.ts';
import {inMirror} from '../identity/mirror.ts';
import {mirrorMember} from '../identity/mirror-member.ts';
import {discardOrganization, mirrorOrganization} from '../identity/mirror-organization.ts';
import {mirrorUser} from '../identity/mirror-user.ts';
import type {ProviderMembership, ProviderOrganization, ProviderUser} from '../identity/provider-client.ts';
import {createTombstoneStore} from '../identity/tombstone-store.ts';
import {isUnanswered} from '../identity/unanswered.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import type {SignedIn} from './onboarding-state.ts';
import {findOwnOrganization} from './own-organization-store.ts';

type Founding = SignedIn & {name: string};

const isNamed = (organization: ProviderOrganization, name: string): boolean =>
	organization.name.toLowerCase() === name.toLowerCase();

/**
 * Takes an organization back that did not come about. It is discarded first: then its events leave nothing here, and
 * where the provider fails now, the user's next attempt takes it away there. What fails is logged alone.
 */
const giveUp = async (services: Services, {by}: SignedIn, organizationId: string): Promise<void> => {
	const {log, provider} = services;
	await discardOrganization(services, by, organizationId).catch((error: unknown) => {
		log.error({err: error, organizationId}, 'could not note that an organization was given up');
	});
	await provider.deleteOrganization(organizationId).catch((error: unknown) => {
		log.error({err: error, organizationId}, 'could not delete an organization that was given up');
	});
};

/** What the user has at the provider, without what was given up before, which goes now. @throws 502. */
const readMemberships = async (services: Services, userId: string): Promise<ProviderMembership[]> => {
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

/**
 * An organization of this name that the user made at the provider and of which nothing came here: what is left where
 * the process ended, or the provider did not answer, in the middle of an attempt like this one.
 * @throws 409 where the user belongs to another one, which is mirrored then.
 */
const findUnfinished = async (
	services: Services,
	{session: {userId}, by, name}: Founding,
): Promise<ProviderOrganization | null> => {
	const memberships = await readMemberships(services, userId);
	for (const {organization, organizationId} of memberships) {
		const isUnfinished = memberships.length === 1 && organization?.createdBy === userId && isNamed(organization, name);
		if (isUnfinished) {
			return organization;
		}

		// The ops organization is nobody's customer: nothing is made of it here.
		if (organizationId !== services.config.opsOrgId) {
			await fetchOnDemand(services, {by, organizationId, userId});
		}
	}

	if (memberships.length > 0) {
		throw alreadyInOrganization();
	}

	return null;
};

/** Makes it at the provider; where that is not answered, what was made all the same is taken back. @throws 502. */
const createAtProvider = async (services: Services, founding: Founding): Promise<ProviderOrganization> => {
	const {provider, log} = services;
	const {session, name} = founding;
	try {
		return await provider.createOrganization({name, createdBy: session.userId});
	} catch (error) {
		// The user had none before, so whatever is there now was made here.
		const made = isUnanswered(error)
			? await provider.listMembershipsOfUser(session.userId).catch((failure: unknown) => {
					log.warn({err: failure}, 'could not see whether an organization was made');
					return [];
				})
			: [];
		for (const {organization} of made) {
			if (organization?.createdBy === session.userId && isNamed(organization, name)) {
				await giveUp(services, founding, organization.id);
			}
		}

		throw error;
	}
};

type Made = {organization: ProviderOrganization; user: ProviderUser | null; membership: ProviderMembership};

/** Organization, user and owner in one transaction. @throws 409 where the name or the user is taken meanwhile. */
const mirrorMade = (services: Services, {session, by}: Founding, made: Made): Promise<Organization> =>
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
				: await mirrorMember(mirror, {organization, membership, role: 'owner', told: 'updated'});
		if (organization === null || member === null) {
			// Somebody ended it at the provider while it was made.
			throw providerUnavailable();
		}

		return (await findOwnOrganization(mirror.trx, session.userId)) ?? organization;
	});

const found = async (services: Services, founding: Founding): Promise<Organization> => {
	const {provider, db} = services;
	const {userId} = founding.session;
	if ((await findOwnOrganization(db, userId)) !== null) {
		throw alreadyInOrganization();
	}

	const unfinished = await findUnfinished(services, founding);
	const user = await provider.getUser(userId);
	const organization = unfinished ?? (await createAtProvider(services, founding));
	try {
		const membership = await provider.stampRole(organization.id, userId, 'owner');
		return await mirrorMade(services, founding, {organization, user, membership});
	} catch (error) {
		await giveUp(services, founding, organization.id);
		throw error;
	}
};

/**
 * Makes the caller's organization, with the caller as its owner: at the provider, and here in one transaction
 * (interface 4.6). Of one user one attempt runs at a time; one that does not come about leaves nothing on either side.
 * @throws 409 where the caller belongs to an organization or the name is in use; what the provider refuses; 502.
 */
export const createOwnOrganization = (services: Services, founding: Founding): Promise<Organization> =>
	withLease(services, `create-organization:${founding.session.userId}`, () => found(services, founding));

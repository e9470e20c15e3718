import {findOwnOrganization} from '../auth/access-store.ts';
import {withLease} from '../db/lease.ts';
import {alreadyInOrganization, providerUnavailable} from '../errors.ts';
import {inMirror} from '../identity/mirror.ts';
import {mirrorMember} from '../identity/mirror-member.ts';
import {mirrorOrganization} from '../identity/mirror-organization.ts';
import {mirrorUser} from '../identity/mirror-user.ts';
import type {ProviderMembership, ProviderOrganization, ProviderUser} from '../identity/provider-client.ts';
import {isUnanswered} from '../identity/unanswered.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {
	type Founding,
	giveUp,
	isNamed,
	mirrorMemberships,
	readMemberships,
	unfinishedOf,
} from './unfinished-organization.ts';

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
					log.warn({err: failure}, 'could not check whether an organization was created');
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

/** Makes an organization that is at the provider the caller's own, there and here. @throws 409, 502. */
const finish = async (
	services: Services,
	founding: Founding,
	{organization, user}: Pick<Made, 'organization' | 'user'>,
): Promise<Organization> => {
	const membership = await services.provider.stampRole(organization.id, founding.session.userId, 'owner');
	if (membership === null) {
		// Whoever makes an organization is its member, as long as both are there.
		throw providerUnavailable();
	}

	return mirrorMade(services, founding, {organization, user, membership});
};

const found = async (services: Services, founding: Founding): Promise<Organization> => {
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
		// Not made by this attempt, so not this one's to take away: whatever is refused, the user has it.
		return finish(services, founding, {organization: unfinished, user}).catch(async (error: unknown) => {
			await mirrorMemberships(services, founding, memberships);
			throw error;
		});
	}

	const organization = await createAtProvider(services, founding);
	return finish(services, founding, {organization, user}).catch(async (error: unknown) => {
		await giveUp(services, founding, organization.id);
		throw error;
	});
};

/**
 * Makes the caller's organization, with the caller as its owner: at the provider, and here in one transaction
 * (contract/portal 3). Of one user one attempt runs at a time; one that does not come about leaves nothing on either
 * side.
 * @throws 409 where the caller belongs to an organization or the name is in use; what the provider refuses; 502.
 */
export const createOwnOrganization = (services: Services, founding: Founding): Promise<Organization> =>
	withLease(services, `create-organization:${founding.session.userId}`, () => found(services, founding));

import type {Caller} from '../audit/audit-log.ts';
import {seedChannels} from '../channels/channel-store.ts';
import {organizationNameTaken} from '../errors.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {inMirror, type Mirror} from './mirror.ts';
import {createOrganizationMirrorStore, type MirroredOrganization} from './organization-mirror-store.ts';
import type {ProviderOrganization} from './provider-payloads.ts';
import {createTombstoneStore} from './tombstone-store.ts';

/**
 * What tells of a record. 'updated' wins over anything as old as itself, 'created' only over what is older, and
 * 'mentioned' (as a part of a membership) over nothing: it makes a row where there is none.
 */
export type Told = 'created' | 'updated' | 'mentioned';

/** Whether what is told is newer than what is known. */
export const isNews = (told: Told, at: Date, known: Date | null): boolean => {
	switch (told) {
		case 'mentioned':
			return false;
		case 'created':
			return known === null || at > known;
		case 'updated':
			return known === null || at >= known;
	}
};

const entryOf = (action: string, {id}: {id: string}, details: Record<string, unknown>) => ({
	action,
	entityType: 'Organization',
	entityId: id,
	organizationId: id,
	details,
});

const insert = async (
	{trx, now, record}: Mirror,
	organization: ProviderOrganization,
	told: Told,
	mayShareName: boolean,
): Promise<Organization> => {
	const isDeleted = await createTombstoneStore(trx).isOrganizationDeleted(organization.id);
	const made = await createOrganizationMirrorStore(trx).insert(
		organization,
		{
			status: isDeleted ? 'SUSPENDED' : 'ACTIVE',
			providerUpdatedAt: told === 'mentioned' ? null : organization.updatedAt,
			mayShareName,
		},
		now,
	);
	await seedChannels(trx, made.id, now);
	await record(entryOf('CREATE', made, {name: made.name, clerkOrgId: organization.id}));
	return made;
};

const update = async (
	{trx, now, record}: Mirror,
	known: MirroredOrganization,
	organization: ProviderOrganization,
): Promise<Organization> => {
	const store = createOrganizationMirrorStore(trx);
	await store.setProviderUpdatedAt(known.id, organization.updatedAt);
	if (organization.name === known.providerName) {
		return known;
	}

	await store.rename(known.id, organization.name, now);
	if (organization.name !== known.name) {
		await record(entryOf('UPDATE', known, {name: organization.name}));
	}

	return {...known, name: organization.name};
};

/**
 * Brings an organization to what the provider tells of it, whatever was told before and in which order. One that the
 * provider has deleted is SUSPENDED. Its name is the provider's, also where another organization has it: names are
 * unique here among those that were given here.
 * @param requireOwnName for an organization that is being made here: its name must be nobody else's.
 * @returns null for one that was discarded. @throws 409 with `requireOwnName`.
 */
export const mirrorOrganization = async (
	mirror: Mirror,
	organization: ProviderOrganization,
	told: Told,
	{requireOwnName = false} = {},
): Promise<Organization | null> => {
	// Locked first: whoever deletes it holds the row, and discards it in the same transaction.
	const known = await createOrganizationMirrorStore(mirror.trx).lock(organization.id);
	if (await createTombstoneStore(mirror.trx).isOrganizationDiscarded(organization.id)) {
		return null;
	}

	if (known === null) {
		return insert(mirror, organization, told, !requireOwnName);
	}

	// Its event came before us, and had to take the name as it is.
	if (requireOwnName && known.sharesName) {
		throw organizationNameTaken(known.name);
	}

	return isNews(told, organization.updatedAt, known.providerUpdatedAt) ? update(mirror, known, organization) : known;
};

/**
 * Suspends what the provider deleted, for good: its rows stay, and no later event brings it back (contract/identity 7).
 */
export const endOrganization = async ({trx, now, record}: Mirror, clerkOrgId: string): Promise<void> => {
	await createTombstoneStore(trx).addOrganization(clerkOrgId, now);
	const known = await createOrganizationMirrorStore(trx).lock(clerkOrgId);
	if (known !== null && known.status !== 'SUSPENDED') {
		await createOrganizationStore(trx).update(known.id, {status: 'SUSPENDED'}, now);
		await record(entryOf('SUSPEND', known, {status: 'SUSPENDED'}));
	}
};

/** Takes the first owner's address as contact where there is none (contract/identity 1). */
export const fillContact = async ({trx, now, record}: Mirror, organizationId: string): Promise<void> => {
	const contactEmail = await createOrganizationMirrorStore(trx).fillContact(organizationId, now);
	if (contactEmail !== null) {
		await record(entryOf('UPDATE', {id: organizationId}, {contactEmail}));
	}
};

/**
 * Forgets an organization that was given up while it was made (contract/portal 3), with whatever its events have left
 * here meanwhile, and whatever they would leave yet. Call it when it is gone at the provider.
 */
export const discardOrganization = (services: Services, by: Caller, clerkOrgId: string): Promise<void> =>
	inMirror(services, by, async ({trx, now, record}) => {
		await createTombstoneStore(trx).addDiscarded(clerkOrgId, now);
		const store = createOrganizationMirrorStore(trx);
		const known = await store.lock(clerkOrgId);
		if (known !== null) {
			await store.remove(known.id);
			await record(entryOf('DELETE', known, {name: known.name, orgKey: known.orgKey}));
		}
	});

import {organizationNameTaken} from '../../platform/errors.ts';
import {type Caller, organizationEntry} from '../audit/audit-log.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {seedChannels} from '../organizations/seed-channels.ts';
import {inMirror, type Mirror, type MirrorDeps} from './mirror.ts';
import {createOrganizationMirrorStore, type MirroredOrganization} from './organization-mirror-store.ts';
import {isKnownTime, newest, type ProviderOrganization} from './provider-payloads.ts';
import {createTombstoneStore} from './tombstone-store.ts';

/**
 * Kind of an event. 'updated' overrides records of the same age, 'created' only older ones, and 'mentioned' (as part of
 * a membership) none: it only creates missing rows.
 */
export type EventKind = 'created' | 'updated' | 'mentioned';

/** Whether an event is newer than the stored state. An update without a time is taken for new: nothing says otherwise. */
export const isNewer = (kind: EventKind, at: Date, known: Date | null): boolean => {
	switch (kind) {
		case 'mentioned':
			return false;
		case 'created':
			return known === null || at > known;
		case 'updated':
			return known === null || at >= known || !isKnownTime(at);
	}
};

const insert = async (
	{trx, now, record}: Mirror,
	organization: ProviderOrganization,
	kind: EventKind,
	mayShareName: boolean,
): Promise<Organization> => {
	const isDeleted = await createTombstoneStore(trx).isOrganizationDeleted(organization.id);
	const made = await createOrganizationMirrorStore(trx).insert(
		organization,
		{
			status: isDeleted ? 'SUSPENDED' : 'ACTIVE',
			providerUpdatedAt: kind === 'mentioned' ? null : organization.updatedAt,
			mayShareName,
		},
		now,
	);
	await seedChannels(trx, made.id, now);
	await record(organizationEntry('CREATE', made.id, {name: made.name, clerkOrgId: organization.id}));
	return made;
};

const update = async (
	{trx, now, record}: Mirror,
	known: MirroredOrganization,
	organization: ProviderOrganization,
): Promise<Organization> => {
	const store = createOrganizationMirrorStore(trx);
	await store.setProviderUpdatedAt(known.id, newest(organization.updatedAt, known.providerUpdatedAt));
	if (organization.name === known.providerName) {
		return known;
	}

	await store.rename(known.id, organization.name, now);
	if (organization.name !== known.name) {
		await record(organizationEntry('UPDATE', known.id, {name: organization.name}));
	}

	return {...known, name: organization.name};
};

/**
 * Updates an organization to the provider's state, whatever the order of events. One deleted at the provider is
 * SUSPENDED. The provider's name is used even if another organization has it: only names given here are unique.
 * @param requireOwnName for an organization being created here: its name must be unique. @returns null for a discarded
 * one. @throws 409 with `requireOwnName`.
 */
export const mirrorOrganization = async (
	mirror: Mirror,
	organization: ProviderOrganization,
	kind: EventKind,
	{requireOwnName = false} = {},
): Promise<Organization | null> => {
	// Lock it first: a concurrent deletion holds the row and discards it in the same transaction.
	const known = await createOrganizationMirrorStore(mirror.trx).lock(organization.id);
	if (await createTombstoneStore(mirror.trx).isOrganizationDiscarded(organization.id)) {
		return null;
	}

	if (known === null) {
		return insert(mirror, organization, kind, !requireOwnName);
	}

	// Its event arrived first and had to use the name unchanged.
	if (requireOwnName && known.sharesName) {
		throw organizationNameTaken(known.name);
	}

	return isNewer(kind, organization.updatedAt, known.providerUpdatedAt) ? update(mirror, known, organization) : known;
};

/**
 * Suspends an organization deleted at the provider, permanently: its rows stay, and no later event restores it
 * (contract/identity 7).
 */
export const endOrganization = async ({trx, now, record}: Mirror, clerkOrgId: string): Promise<void> => {
	await createTombstoneStore(trx).addOrganization(clerkOrgId, now);
	const known = await createOrganizationMirrorStore(trx).lock(clerkOrgId);
	if (known !== null && known.status !== 'SUSPENDED') {
		await createOrganizationStore(trx).update(known.id, {status: 'SUSPENDED'}, now);
		await record(organizationEntry('SUSPEND', known.id, {status: 'SUSPENDED'}));
	}
};

/** Uses the first owner's address as contact if there is none (contract/identity 1). */
export const fillContact = async ({trx, now, record}: Mirror, organizationId: string): Promise<void> => {
	const contactEmail = await createOrganizationMirrorStore(trx).fillContact(organizationId, now);
	if (contactEmail !== null) {
		await record(organizationEntry('UPDATE', organizationId, {contactEmail}));
	}
};

/**
 * Deletes an organization whose creation was abandoned (contract/portal 3), with everything its events have created or
 * would still create. Call it after the deletion at the provider.
 */
export const discardOrganization = (services: MirrorDeps, by: Caller, clerkOrgId: string): Promise<void> =>
	inMirror(services, by, async ({trx, now, record}) => {
		await createTombstoneStore(trx).addDiscarded(clerkOrgId, now);
		const store = createOrganizationMirrorStore(trx);
		const known = await store.lock(clerkOrgId);
		if (known !== null) {
			await store.remove(known.id);
			await record(organizationEntry('DELETE', known.id, {name: known.name, orgKey: known.orgKey}));
		}
	});

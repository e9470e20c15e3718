import {entriesOf} from '../audit/audit-log.ts';
import type {Mirror} from './mirror.ts';
import {type EventKind, fillContact, isNewer} from './mirror-organization.ts';
import {createOrganizationMirrorStore} from './organization-mirror-store.ts';
import {emailIn, newest, type ProviderMembership, type ProviderUser} from './provider-payloads.ts';
import {createUserStore, type MirroredUser} from './user-store.ts';

const entryOf = (action: string, {id}: MirroredUser, details: Record<string, unknown>) =>
	entriesOf('User')(action, {id, organizationId: null}, details);

/** The result of resolving an address: the user's row, and the address to store. */
type Claim = {row: MirroredUser | null; email: string | null; isSuperseded: boolean};

/**
 * Resolves which row owns an e-mail address. Only a verified address proves ownership (contract/identity 12). It links a
 * row without a provider id; it re-points a row whose address another id had verified, if the new verification is newer;
 * and a row that never verified the address loses it. An unverified address that another user has stays with that user.
 */
const claimEmail = async (
	{trx, now}: Mirror,
	own: MirroredUser | null,
	{email, isEmailVerified, updatedAt}: ProviderUser,
): Promise<Claim> => {
	const store = createUserStore(trx);
	const holder = email === null ? null : await store.findByEmail(email);
	if (holder === null || holder.id === own?.id) {
		return {row: own, email, isSuperseded: false};
	}

	if (!isEmailVerified) {
		return {row: own, email: null, isSuperseded: false};
	}

	if (holder.clerkUserId !== null && !holder.isEmailVerified) {
		await store.clearEmail(holder.id, now);
		return {row: own, email, isSuperseded: false};
	}

	const isOlder =
		holder.clerkUserId !== null && holder.providerUpdatedAt !== null && updatedAt < holder.providerUpdatedAt;
	if (isOlder) {
		return {row: own, email: null, isSuperseded: true};
	}

	if (own !== null) {
		await store.merge({from: own.id, into: holder.id}, now);
	}

	return {row: holder, email, isSuperseded: false};
};

const save = async (
	{trx, now, record}: Mirror,
	row: MirroredUser | null,
	values: Omit<MirroredUser, 'id'>,
): Promise<MirroredUser> => {
	const store = createUserStore(trx);
	const details = {clerkUserId: values.clerkUserId, email: values.email, name: values.name};
	if (row === null) {
		const made = await store.insert(values, now);
		await record(entryOf('CREATE', made, details));
		return made;
	}

	const changed = await store.update(row.id, values, now);
	if (row.clerkUserId !== values.clerkUserId || row.email !== values.email || row.name !== values.name) {
		await record(entryOf('UPDATE', changed, details));
	}

	return changed;
};

/**
 * Updates a person to the provider's state, whatever the order of events.
 * @returns null if another account has verified the address since, which leaves no row for this one.
 */
export const mirrorUser = async (mirror: Mirror, user: ProviderUser, kind: EventKind): Promise<MirroredUser | null> => {
	const own = await createUserStore(mirror.trx).findByProviderId(user.id);
	if (own !== null && !isNewer(kind, user.updatedAt, own.providerUpdatedAt)) {
		return own;
	}

	const {row, email, isSuperseded} = await claimEmail(mirror, own, user);
	if (row === null && isSuperseded) {
		return null;
	}

	const saved = await save(mirror, row, {
		clerkUserId: user.id,
		email,
		isEmailVerified: email !== null && user.isEmailVerified,
		name: user.name,
		lastLoginAt: user.lastSignInAt ?? row?.lastLoginAt ?? null,
		providerUpdatedAt: newest(user.updatedAt, row?.providerUpdatedAt ?? null),
	});
	// An owner whose membership had no address becomes the contact when the address is known.
	for (const organizationId of await createOrganizationMirrorStore(mirror.trx).ownedBy(user.id)) {
		await fillContact(mirror, organizationId);
	}

	return saved;
};

/**
 * The row of a membership's person, created from the membership's data if necessary. Its address is not verified, so it
 * takes nothing from others.
 */
export const ensureUser = async (mirror: Mirror, membership: ProviderMembership): Promise<MirroredUser> => {
	const store = createUserStore(mirror.trx);
	const known = await store.findByProviderId(membership.userId);
	const claimed = emailIn(membership.identifier);
	const isFree = claimed !== null && (await store.findByEmail(claimed)) === null;
	if (known === null) {
		return save(mirror, null, {
			clerkUserId: membership.userId,
			email: isFree ? claimed : null,
			isEmailVerified: false,
			name: membership.name,
			lastLoginAt: null,
			providerUpdatedAt: null,
		});
	}

	const isOnlyMentioned = known.providerUpdatedAt === null;
	const email = known.email ?? (isFree ? claimed : null);
	const name = known.name || membership.name;
	return isOnlyMentioned && (email !== known.email || name !== known.name)
		? save(mirror, known, {...known, email, name, isEmailVerified: known.email !== null && known.isEmailVerified})
		: known;
};

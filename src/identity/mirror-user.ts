import type {Mirror} from './mirror.ts';
import {fillContact, isNews, type Told} from './mirror-organization.ts';
import {createOrganizationMirrorStore} from './organization-mirror-store.ts';
import {emailIn, type ProviderMembership, type ProviderUser} from './provider-payloads.ts';
import {createUserStore, type MirroredUser} from './user-store.ts';

const entryOf = (action: string, {id}: MirroredUser, details: Record<string, unknown>) => ({
	action,
	entityType: 'User',
	entityId: id,
	organizationId: null,
	details,
});

/** Where an address leads: the row that the user is to have, and the address that it may have. */
type Claim = {row: MirroredUser | null; email: string | null; isSuperseded: boolean};

/**
 * Whose row an e-mail address is. Only a verified one proves anything (contract/identity 12): it links a row without a
 * provider id, re-points a row that had the address verified under another id, the newer of two claims winning, and
 * takes it from a row that had never proved it. An unverified address that somebody else has is left to them.
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
 * Brings a person to what the provider tells of them, whatever was told before and in which order.
 * @returns null where another account has proved the address since, and no row is left for this one.
 */
export const mirrorUser = async (mirror: Mirror, user: ProviderUser, told: Told): Promise<MirroredUser | null> => {
	const own = await createUserStore(mirror.trx).findByProviderId(user.id);
	if (own !== null && !isNews(told, user.updatedAt, own.providerUpdatedAt)) {
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
		providerUpdatedAt: user.updatedAt,
	});
	// An owner whose membership named no address is the contact as soon as there is one.
	for (const organizationId of await createOrganizationMirrorStore(mirror.trx).ownedBy(user.id)) {
		await fillContact(mirror, organizationId);
	}

	return saved;
};

/**
 * The row of a membership's person, made of what the membership tells where nothing else has told of them. That
 * address is not known to be verified, so that it takes nothing from anybody.
 */
export const ensureUser = async (mirror: Mirror, membership: ProviderMembership): Promise<MirroredUser> => {
	const store = createUserStore(mirror.trx);
	const known = await store.findByProviderId(membership.userId);
	const told = emailIn(membership.identifier);
	const isFree = told !== null && (await store.findByEmail(told)) === null;
	if (known === null) {
		return save(mirror, null, {
			clerkUserId: membership.userId,
			email: isFree ? told : null,
			isEmailVerified: false,
			name: membership.name,
			lastLoginAt: null,
			providerUpdatedAt: null,
		});
	}

	const isOnlyMentioned = known.providerUpdatedAt === null;
	const email = known.email ?? (isFree ? told : null);
	const name = known.name || membership.name;
	return isOnlyMentioned && (email !== known.email || name !== known.name)
		? save(mirror, known, {...known, email, name, isEmailVerified: known.email !== null && known.isEmailVerified})
		: known;
};

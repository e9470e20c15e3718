import type {Clock} from '../../../src/platform/clock.ts';
import {notFound} from './provider-errors.ts';
import {
	type InvitationRecord,
	idOf,
	type Metadata,
	type Ref,
	type StoredMembership,
	type StoredOrganization,
	type SystemRole,
	type UserRecord,
} from './records.ts';

/** How the instance is set up, as its dashboard would say it. */
export type Settings = {
	/** Seats of an organization that was made without saying how many; 0: any number. */
	maxAllowedMemberships: number;
};

export const defaultSettings: Settings = {maxAllowedMemberships: 5};

/** The role of an organization's creator. */
export const creatorRole: SystemRole = 'org:admin';

/** All that the provider knows. The operations on it are in organizations.ts, users.ts, memberships.ts, invitations.ts. */
export const createDirectory = (given: {
	clock: Clock;
	settings: Settings;
	/** Creates a webhook event. */
	emit(type: string, data: unknown): void;
}) => ({
	...given,
	organizations: new Map<string, StoredOrganization>(),
	users: new Map<string, UserRecord>(),
	memberships: new Map<string, StoredMembership>(),
	invitations: new Map<string, InvitationRecord>(),
});

export type Directory = ReturnType<typeof createDirectory>;

const foundOr404 = <T>(found: T | undefined, what: string): T => {
	if (found === undefined) {
		throw notFound(what);
	}

	return found;
};

export const findOrganization = ({organizations}: Directory, ref: Ref): StoredOrganization =>
	foundOr404(organizations.get(idOf(ref)), 'Organization');

export const findUser = ({users}: Directory, ref: Ref): UserRecord => foundOr404(users.get(idOf(ref)), 'User');

export const findInvitation = ({invitations}: Directory, ref: Ref): InvitationRecord =>
	foundOr404(invitations.get(idOf(ref)), 'Organization invitation');

export const findUserByEmail = ({users}: Directory, email: string): UserRecord | null =>
	[...users.values()].find((user) =>
		user.email_addresses.some((address) => address.email_address.toLowerCase() === email.toLowerCase()),
	) ?? null;

export const membershipsWhere = (
	{memberships}: Directory,
	{organizationId, userId}: {organizationId?: string; userId?: string},
): StoredMembership[] =>
	[...memberships.values()].filter(
		(membership) =>
			(organizationId === undefined || membership.organizationId === organizationId) &&
			(userId === undefined || membership.userId === userId),
	);

export const findMembership = (directory: Directory, organization: Ref, user: Ref): StoredMembership => {
	const organizationId = findOrganization(directory, organization).id;
	const [found] = membershipsWhere(directory, {organizationId, userId: findUser(directory, user).id});
	return foundOr404(found, 'Organization membership');
};

/** The current time, but later than a record's last change, so that two changes at a frozen clock have an order. */
export const changedAt = ({clock}: Directory, record: {updated_at: number}): number =>
	Math.max(clock.now().getTime(), record.updated_at + 1);

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deep merge as the provider does it: null deletes a key. */
export const mergeMetadata = (into: Metadata, patch: Metadata): Metadata => {
	const merged = {...into};
	for (const [key, value] of Object.entries(patch)) {
		if (value === null) {
			delete merged[key];
		} else {
			const present = merged[key];
			merged[key] = isObject(value) ? mergeMetadata(isObject(present) ? present : {}, value) : value;
		}
	}

	return merged;
};

import type {Clock} from '../../../src/platform/clock.ts';
import {notFound} from './provider-errors.ts';
import {
	type InvitationRecord,
	idOf,
	type MembershipRecord,
	type Metadata,
	type OrganizationRecord,
	type Ref,
	type UserRecord,
} from './records.ts';

/** How the instance is set up, as its dashboard would say it. */
export type Settings = {
	/** Off by default, as on instances made after October 2025: a slug is then refused with 403. */
	slugsEnabled: boolean;
	/** The role of an organization's creator. */
	creatorRole: MembershipRecord['role'];
	/** Seats of an organization that was made without saying how many; 0: any number. */
	maxAllowedMemberships: number;
	/** Whether deleting an organization also sends events of its memberships, which is not documented. */
	sendsMembershipsOfDeleted: boolean;
};

/** A stored membership; organization and user are added when it is sent. */
export type StoredMembership = Omit<MembershipRecord, 'organization' | 'public_user_data'> & {
	organizationId: string;
	userId: string;
};
export type StoredOrganization = Omit<OrganizationRecord, 'members_count' | 'pending_invitations_count'>;

/** All that the provider knows. The operations on it are in organizations.ts, users.ts, memberships.ts, invitations.ts. */
export type Directory = {
	clock: Clock;
	settings: Settings;
	/** Creates a webhook event. */
	emit: (type: string, data: unknown) => void;
	organizations: Map<string, StoredOrganization>;
	users: Map<string, UserRecord>;
	memberships: Map<string, StoredMembership>;
	invitations: Map<string, InvitationRecord>;
};

export const defaultSettings: Settings = {
	slugsEnabled: false,
	creatorRole: 'org:admin',
	maxAllowedMemberships: 5,
	sendsMembershipsOfDeleted: false,
};

export const createDirectory = (given: Pick<Directory, 'clock' | 'settings' | 'emit'>): Directory => ({
	...given,
	organizations: new Map(),
	users: new Map(),
	memberships: new Map(),
	invitations: new Map(),
});

export const findOrganization = ({organizations}: Directory, ref: Ref): StoredOrganization => {
	const id = idOf(ref);
	const found = organizations.get(id) ?? [...organizations.values()].find(({slug}) => slug !== null && slug === id);
	if (found === undefined) {
		throw notFound('Organization');
	}

	return found;
};

export const findUser = ({users}: Directory, ref: Ref): UserRecord => {
	const found = users.get(idOf(ref));
	if (found === undefined) {
		throw notFound('User');
	}

	return found;
};

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
	if (found === undefined) {
		throw notFound('Organization membership');
	}

	return found;
};

/** The current time, but later than a record's last change, so that two changes at a frozen clock have an order. */
export const changedAt = ({clock}: Directory, record: {updated_at: number}): number =>
	Math.max(clock.now().getTime(), record.updated_at + 1);

const isObject = (value: unknown): value is Metadata =>
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

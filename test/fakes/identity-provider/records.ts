import {randomBytes} from 'node:crypto';

/**
 * What the provider says of its own things, as its API and its events spell it (contract/identity 8,
 * contract/identity 10). Times are Unix milliseconds, as all but those of tokens.
 */
export type Metadata = Record<string, unknown>;

export const roleNames = {'org:member': 'Member', 'org:admin': 'Admin'};
/** The provider's own role, not the application's. */
export type SystemRole = keyof typeof roleNames;
export const isSystemRole = (role: unknown): role is SystemRole => typeof role === 'string' && role in roleNames;

/** Where every picture lies; nobody has one. */
const noImage = {image_url: 'https://img.clerk.com/x', has_image: false};

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789';

/** A new id as the provider makes them: `org_` and 27 letters and digits. */
export const newId = (prefix: 'org' | 'user' | 'orgmem' | 'orginv' | 'idn' | 'sess' | 'ins' | 'msg'): string =>
	`${prefix}_2${Array.from(randomBytes(26), (byte) => alphabet[byte % alphabet.length]).join('')}`;

/** Somebody or something by its id, or the record itself. */
export type Ref = string | {id: string};
export const idOf = (ref: Ref): string => (typeof ref === 'string' ? ref : ref.id);

type OrganizationFields = {
	id: string;
	name: string;
	slug: null;
	/** Members and open invitations that it may have; 0: any number. */
	max_allowed_memberships: number;
	public_metadata: Metadata;
	private_metadata: Metadata;
	created_by: string | null;
};

/** An organization as it is stored; the numbers of its members and invitations are added when it is sent. */
export const newOrganization = (fields: OrganizationFields, now: number) => ({
	object: 'organization' as const,
	...fields,
	...noImage,
	admin_delete_enabled: true,
	created_at: now,
	updated_at: now,
});

export type StoredOrganization = ReturnType<typeof newOrganization>;

const verificationLifetime = 10 * 60 * 1000;

export const newEmailAddress = (email: string, isVerified: boolean, now: number) => ({
	id: newId('idn'),
	object: 'email_address' as const,
	email_address: email,
	reserved: false,
	verification: {
		status: isVerified ? 'verified' : 'unverified',
		strategy: 'email_code',
		attempts: 1,
		expire_at: now + verificationLifetime,
	},
	linked_to: [],
	created_at: now,
	updated_at: now,
});

type UserFields = {
	id: string;
	username: string | null;
	first_name: string | null;
	last_name: string | null;
	email_addresses: Array<ReturnType<typeof newEmailAddress>>;
};

export const newUser = (fields: UserFields, now: number) => ({
	object: 'user' as const,
	...fields,
	external_id: null,
	primary_email_address_id: fields.email_addresses[0]?.id ?? null,
	primary_phone_number_id: null,
	primary_web3_wallet_id: null,
	phone_numbers: [],
	web3_wallets: [],
	external_accounts: [],
	...noImage,
	public_metadata: {},
	private_metadata: {},
	unsafe_metadata: {},
	password_enabled: true,
	two_factor_enabled: false,
	banned: false,
	locked: false,
	last_sign_in_at: now,
	last_active_at: now,
	created_at: now,
	updated_at: now,
});

export type UserRecord = ReturnType<typeof newUser>;

type MembershipFields = {
	id: string;
	role: SystemRole;
	/** The application's role lies in `role`. */
	public_metadata: Metadata;
	organizationId: string;
	userId: string;
};

/** A membership as it is stored; organization and user are added when it is sent. */
export const newMembership = (fields: MembershipFields, now: number) => ({
	object: 'organization_membership' as const,
	...fields,
	role_name: roleNames[fields.role],
	permissions: [],
	private_metadata: {} as Metadata,
	created_at: now,
	updated_at: now,
});

export type StoredMembership = ReturnType<typeof newMembership>;

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;

type InvitationFields = {
	id: string;
	email_address: string;
	role: SystemRole;
	organization_id: string;
	public_metadata: Metadata;
	private_metadata: Metadata;
	url: string | null;
	expires_at: number;
	inviter_id: string | null;
};

export const newInvitation = (fields: InvitationFields, now: number) => ({
	object: 'organization_invitation' as const,
	...fields,
	role_name: roleNames[fields.role],
	status: 'pending' as (typeof invitationStatuses)[number],
	public_inviter_data: null,
	created_at: now,
	updated_at: now,
});

export type InvitationRecord = ReturnType<typeof newInvitation>;

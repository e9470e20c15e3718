import {randomBytes} from 'node:crypto';

/**
 * What the provider says of its own things, as its API and its events spell it (contract/identity 8,
 * contract/identity 10).
 */
export type Metadata = Record<string, unknown>;

export type OrganizationRecord = {
	object: 'organization';
	id: string;
	name: string;
	/** Null on an instance that has slugs switched off, which is the default. */
	slug: string | null;
	image_url: string;
	has_image: boolean;
	members_count: number;
	pending_invitations_count: number;
	/** Members and open invitations that it may have; 0: any number. */
	max_allowed_memberships: number;
	admin_delete_enabled: boolean;
	public_metadata: Metadata;
	private_metadata: Metadata;
	created_by: string | null;
	/** Unix milliseconds, as every time but those of tokens. */
	created_at: number;
	updated_at: number;
};

export type EmailAddressRecord = {
	id: string;
	object: 'email_address';
	email_address: string;
	reserved: boolean;
	verification: {status: 'verified' | 'unverified'; strategy: string; attempts: number; expire_at: number} | null;
	linked_to: unknown[];
	created_at: number;
	updated_at: number;
};

export type UserRecord = {
	object: 'user';
	id: string;
	external_id: string | null;
	username: string | null;
	first_name: string | null;
	last_name: string | null;
	primary_email_address_id: string | null;
	primary_phone_number_id: string | null;
	primary_web3_wallet_id: string | null;
	email_addresses: EmailAddressRecord[];
	phone_numbers: unknown[];
	web3_wallets: unknown[];
	external_accounts: unknown[];
	image_url: string;
	has_image: boolean;
	public_metadata: Metadata;
	private_metadata: Metadata;
	unsafe_metadata: Metadata;
	password_enabled: boolean;
	two_factor_enabled: boolean;
	banned: boolean;
	locked: boolean;
	last_sign_in_at: number | null;
	last_active_at: number | null;
	created_at: number;
	updated_at: number;
};

/** The provider's own role, not the application's. */
export type SystemRole = 'org:member' | 'org:admin';

export type MembershipRecord = {
	object: 'organization_membership';
	id: string;
	role: SystemRole;
	role_name: string;
	permissions: string[];
	/** The application's role lies in `role`. */
	public_metadata: Metadata;
	private_metadata: Metadata;
	organization: OrganizationRecord;
	public_user_data: {
		user_id: string;
		/** An e-mail address, a user name, a phone number, or nothing. */
		identifier: string | null;
		first_name: string | null;
		last_name: string | null;
		image_url: string;
		profile_image_url: string;
		has_image: boolean;
	};
	created_at: number;
	updated_at: number;
};

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

export type InvitationRecord = {
	object: 'organization_invitation';
	id: string;
	email_address: string;
	role: SystemRole;
	role_name: string;
	organization_id: string;
	status: InvitationStatus;
	public_metadata: Metadata;
	private_metadata: Metadata;
	url: string | null;
	expires_at: number | null;
	inviter_id: string | null;
	public_inviter_data: null;
	created_at: number;
	updated_at: number;
};

export const roleNames: Record<SystemRole, string> = {'org:member': 'Member', 'org:admin': 'Admin'};
export const isSystemRole = (role: unknown): role is SystemRole => typeof role === 'string' && role in roleNames;

/** Where every picture lies; nobody has one. */
export const imageUrl = 'https://img.clerk.com/x';

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789';

/** A new id as the provider makes them: `org_` and 27 letters and digits. */
export const newId = (prefix: 'org' | 'user' | 'orgmem' | 'orginv' | 'idn' | 'sess' | 'ins' | 'msg'): string =>
	`${prefix}_2${Array.from(randomBytes(26), (byte) => alphabet[byte % alphabet.length]).join('')}`;

/** Somebody or something by its id, or the record itself. */
export type Ref = string | {id: string};
export const idOf = (ref: Ref): string => (typeof ref === 'string' ? ref : ref.id);

import {changedAt, type Directory, findUser, membershipsWhere} from './directory.ts';
import {deleteMembership} from './memberships.ts';
import {primaryEmailOf} from './present.ts';
import {type EmailAddressRecord, imageUrl, newId, type Ref, type UserRecord} from './records.ts';

export type UserInput = {
	id?: string;
	/** Null: signed up without one. */
	email?: string | null;
	emailVerified?: boolean;
	firstName?: string | null;
	lastName?: string | null;
	username?: string | null;
};

const verificationLifetime = 10 * 60 * 1000;

const emailRecord = (email: string, isVerified: boolean, now: number): EmailAddressRecord => ({
	id: newId('idn'),
	object: 'email_address',
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

/** Somebody signs up; without an address given, one of example.test that nobody else has. */
export const createUser = (directory: Directory, input: UserInput = {}): UserRecord => {
	const {id = newId('user'), firstName = 'Mona', lastName = null, username = null} = input;
	const email = input.email === undefined ? `${id.slice(-10).toLowerCase()}@example.test` : input.email;
	const now = directory.clock.now().getTime();
	const addresses = email === null ? [] : [emailRecord(email, input.emailVerified ?? true, now)];
	const user: UserRecord = {
		object: 'user',
		id,
		external_id: null,
		username,
		first_name: firstName,
		last_name: lastName,
		primary_email_address_id: addresses[0]?.id ?? null,
		primary_phone_number_id: null,
		primary_web3_wallet_id: null,
		email_addresses: addresses,
		phone_numbers: [],
		web3_wallets: [],
		external_accounts: [],
		image_url: imageUrl,
		has_image: false,
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
	};
	directory.users.set(id, user);
	directory.emit('user.created', user);
	return structuredClone(user);
};

/** Somebody changes their name or their address. A new address becomes the primary one; the old one goes. */
export const updateUser = (directory: Directory, ref: Ref, input: Omit<UserInput, 'id'>): UserRecord => {
	const user = findUser(directory, ref);
	user.updated_at = changedAt(directory, user);
	user.first_name = input.firstName === undefined ? user.first_name : input.firstName;
	user.last_name = input.lastName === undefined ? user.last_name : input.lastName;
	user.username = input.username === undefined ? user.username : input.username;
	if (input.email !== undefined || input.emailVerified !== undefined) {
		const email = input.email === undefined ? primaryEmailOf(user) : input.email;
		user.email_addresses = email === null ? [] : [emailRecord(email, input.emailVerified ?? true, user.updated_at)];
		user.primary_email_address_id = user.email_addresses[0]?.id ?? null;
	}

	directory.emit('user.updated', user);
	return structuredClone(user);
};

/** Somebody deletes their account, and leaves every organization by that. */
export const deleteUser = (directory: Directory, ref: Ref): void => {
	const {id} = findUser(directory, ref);
	for (const membership of membershipsWhere(directory, {userId: id})) {
		deleteMembership(directory, membership);
	}

	directory.users.delete(id);
	directory.emit('user.deleted', {object: 'user', id, deleted: true});
};

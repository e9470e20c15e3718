import {changedAt, type Directory, findUser} from './directory.ts';
import {primaryEmailOf} from './present.ts';
import {newEmailAddress, newId, newUser, type Ref, type UserRecord} from './records.ts';

export type UserInput = {
	id?: string;
	/** Null: signed up without one. */
	email?: string | null;
	emailVerified?: boolean;
	firstName?: string | null;
	lastName?: string | null;
	username?: string | null;
};

/** Somebody signs up; without an address given, one of example.test that nobody else has. */
export const createUser = (directory: Directory, input: UserInput = {}): UserRecord => {
	const {id = newId('user'), firstName = 'Mona', lastName = null, username = null} = input;
	const {email = `${id.slice(-10).toLowerCase()}@example.test`} = input;
	const now = directory.clock.now().getTime();
	const email_addresses = email === null ? [] : [newEmailAddress(email, input.emailVerified ?? true, now)];
	const user = newUser({id, username, first_name: firstName, last_name: lastName, email_addresses}, now);
	directory.users.set(id, user);
	directory.emit('user.created', user);
	return structuredClone(user);
};

/** Somebody changes their name or their address. A new address becomes the primary one; the old one goes. */
export const updateUser = (directory: Directory, ref: Ref, input: Omit<UserInput, 'id'>): UserRecord => {
	const user = findUser(directory, ref);
	user.updated_at = changedAt(directory, user);
	const {firstName = user.first_name, lastName = user.last_name, username = user.username} = input;
	Object.assign(user, {first_name: firstName, last_name: lastName, username});
	if (input.email !== undefined || input.emailVerified !== undefined) {
		const {email = primaryEmailOf(user)} = input;
		user.email_addresses = email === null ? [] : [newEmailAddress(email, input.emailVerified ?? true, user.updated_at)];
		user.primary_email_address_id = user.email_addresses[0]?.id ?? null;
	}

	directory.emit('user.updated', user);
	return structuredClone(user);
};

import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import {cutText} from '../../platform/text.ts';

// Records of the identity provider, in the common format of its webhooks and its backend API (contract/identity 8,
// contract/identity 10).

export type ProviderOrganization = {
	id: string;
	name: string;
	createdBy: string | null;
	createdAt: Date;
	updatedAt: Date;
};
export type ProviderMembership = {
	/** The provider's id, or `membershipIdOf` if it sent none. */
	id: string;
	organization: ProviderOrganization | null;
	organizationId: string;
	userId: string;
	/** E-mail address, phone number or user name, whichever the user signs in with. */
	identifier: string | null;
	name: string;
	/** The raw `public_metadata.role`; null without one. */
	role: string | null;
	createdAt: Date;
	updatedAt: Date;
};
/** Null `createdAt`: the start is unknown, so the event ends the membership whenever it began. */
export type EndedMembership = {
	id: string;
	organizationId: string | null;
	userId: string | null;
	createdAt: Date | null;
};
export type ProviderInvitation = {
	id: string;
	email: string;
	role: string | null;
	status: InvitationStatus;
	createdAt: Date;
	updatedAt: Date;
	expiresAt: Date | null;
};
export type ProviderUser = {
	id: string;
	email: string | null;
	isEmailVerified: boolean;
	name: string;
	lastSignInAt: Date | null;
	createdAt: Date;
	updatedAt: Date;
};

const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

type Fields = Readonly<Record<string, unknown>>;

const MAX_LENGTH = 255;
/** Replaces a missing time: older than any known time. */
const LONG_AGO = new Date(0);
/** The end of the year 9999: later times are invalid. */
const LATEST_MS = 253_402_300_799_999;
/** Smaller values are seconds: the provider mixes the units (contract/identity 8). */
const MIN_MS = 1e12;

/** Text that PostgreSQL can store: no null character, no lone surrogate. */
const text = (value: unknown): string =>
	typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().trim() : '';

/** An id is used unchanged or not at all. */
const idIn = (value: unknown): string | null =>
	typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && text(value) === value ? value : null;

/** A time of the provider; null if invalid. */
export const timeIn = (value: unknown): Date | null =>
	typeof value === 'number' && value > 0 && value <= LATEST_MS ? new Date(value < MIN_MS ? value * 1000 : value) : null;

const times = ({created_at, updated_at}: Fields): {createdAt: Date; updatedAt: Date} => {
	const createdAt = timeIn(created_at);
	return {createdAt: createdAt ?? LONG_AGO, updatedAt: timeIn(updated_at) ?? createdAt ?? LONG_AGO};
};

/** Whether the provider sent a time, see `LONG_AGO`. */
export const isKnownTime = (at: Date): boolean => at > LONG_AGO;

/** The later of an event's time and the stored one: an event without a time does not erase it. */
export const newest = (at: Date, known: Date | null): Date => (known !== null && known > at ? known : at);

/** Lower case, for comparing addresses; null if invalid. */
export const emailIn = (value: unknown): string | null => {
	const address = text(value).toLowerCase();
	return /^[^@\s]+@[^@\s]+$/.test(address) && address.length <= 320 ? address : null;
};

const nameOf = ({first_name, last_name}: Fields): string =>
	cutText([text(first_name), text(last_name)].filter(Boolean).join(' '), MAX_LENGTH);

/** A role that is not a text counts as an unknown one. */
const roleIn = ({role}: Fields): string | null => (role == null ? null : text(role) || 'unknown');

/** Each reader returns null for an unusable record: one without the ids of its subject. */
export const readOrganization = (value: unknown): ProviderOrganization | null => {
	const data = fieldsOf(value);
	const id = idIn(data['id']);
	return id === null
		? null
		: {
				id,
				name: cutText(text(data['name']), MAX_LENGTH) || id,
				createdBy: idIn(data['created_by']),
				...times(data),
			};
};

/** The id of a record that has no other field, as of a deleted user. */
export const readRecordId = (value: unknown): string | null => idIn(fieldsOf(value)['id']);

/**
 * Identifies a membership without an id by its organization and user, because a user has at most one there at a time. Ids are
 * the provider's.
 */
export const membershipIdOf = (organizationId: string, userId: string): string => `${organizationId}/${userId}`;

export const readMembership = (value: unknown): ProviderMembership | null => {
	const data = fieldsOf(value);
	const person = fieldsOf(data['public_user_data']);
	const organization = readOrganization(data['organization']);
	const organizationId = organization?.id ?? idIn(data['organization_id']);
	const userId = idIn(person['user_id']);
	if (organizationId === null || userId === null) {
		return null;
	}

	return {
		id: idIn(data['id']) ?? membershipIdOf(organizationId, userId),
		organization,
		organizationId,
		userId,
		identifier: text(person['identifier']) || null,
		name: nameOf(person),
		role: roleIn(fieldsOf(data['public_metadata'])),
		...times(data),
	};
};

/** The contents of a 'deleted' event: usually the full membership, else its id or its member (contract/identity 8). */
export const readEndedMembership = (value: unknown): EndedMembership | null => {
	const data = fieldsOf(value);
	const organizationId = idIn(fieldsOf(data['organization'])['id']) ?? idIn(data['organization_id']);
	const userId = idIn(fieldsOf(data['public_user_data'])['user_id']);
	const derivedId = organizationId === null || userId === null ? null : membershipIdOf(organizationId, userId);
	const id = idIn(data['id']) ?? derivedId;
	const {createdAt} = times(data);
	return id === null ? null : {id, organizationId, userId, createdAt: isKnownTime(createdAt) ? createdAt : null};
};

export const readInvitation = (value: unknown): ProviderInvitation | null => {
	const data = fieldsOf(value);
	const id = idIn(data['id']);
	const email = emailIn(data['email_address']);
	const status = invitationStatuses.find((one) => one === data['status']);
	return id === null || email === null || status === undefined
		? null
		: {
				id,
				email,
				role: roleIn(fieldsOf(data['public_metadata'])),
				status,
				...times(data),
				expiresAt: timeIn(data['expires_at']),
			};
};

/** The address of a user: the primary one, else the first verified one, else the first (contract/identity 8). */
const addressOf = (data: Fields): {email: string | null; isEmailVerified: boolean} => {
	const entries = (Array.isArray(data['email_addresses']) ? data['email_addresses'] : []).flatMap((value) => {
		const entry = fieldsOf(value);
		const email = emailIn(entry['email_address']);
		const isEmailVerified = fieldsOf(entry['verification'])['status'] === 'verified';
		return email === null ? [] : [{id: entry['id'], email, isEmailVerified}];
	});
	const primary = data['primary_email_address_id'];
	const found =
		entries.find(({id}) => id !== undefined && id === primary) ??
		entries.find(({isEmailVerified}) => isEmailVerified) ??
		entries[0];
	return {email: found?.email ?? null, isEmailVerified: found?.isEmailVerified ?? false};
};

export const readUser = (value: unknown): ProviderUser | null => {
	const data = fieldsOf(value);
	const id = idIn(data['id']);
	return id === null
		? null
		: {id, ...addressOf(data), name: nameOf(data), lastSignInAt: timeIn(data['last_sign_in_at']), ...times(data)};
};

/** The usable records of a list, and its total; null for anything but a list. */
export const readList = <T>(value: unknown, read: (item: unknown) => T | null): {data: T[]; total: number} | null => {
	const {data, total_count} = fieldsOf(value);
	if (!Array.isArray(data)) {
		return null;
	}

	const items = data.map(read).filter((item) => item !== null);
	return {data: items, total: typeof total_count === 'number' ? total_count : items.length};
};

/** The provider's error: the deciding code, and the message for people. */
export const readProviderError = (value: unknown): {code: string; message: string} => {
	const {errors} = fieldsOf(value);
	const {code, message, long_message} = fieldsOf(Array.isArray(errors) ? errors[0] : null);
	return {
		code: text(code),
		message: cutText(text(long_message) || text(message) || 'The identity provider refused the request', 500),
	};
};

/**
 * A record of the identity provider, as its webhooks and its backend API both write it (contract/identity 8,
 * contract/identity 10).
 */
export type ProviderOrganization = {
	id: string;
	name: string;
	createdBy: string | null;
	createdAt: Date;
	updatedAt: Date;
};
export type ProviderMembership = {
	/** The provider's, or `membershipIdOf` where it told of none. */
	id: string;
	organization: ProviderOrganization | null;
	organizationId: string;
	userId: string;
	/** E-mail address, phone number or user name, whichever the user signs in with. */
	identifier: string | null;
	name: string;
	/** `public_metadata.role`, as it stands there; null without one. */
	role: string | null;
	createdAt: Date;
	updatedAt: Date;
};
/** `createdAt` is null where none was told: the membership has ended whenever it began. */
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

const LONGEST = 255;
/** What stands where the provider gave no time: older than anything, so that whatever has a time wins over it. */
const LONG_AGO = new Date(0);
/** The end of the year 9999: whatever is later is no time. */
const LATEST_MS = 253_402_300_799_999;
/** Smaller values are seconds: the provider mixes the units (contract/identity 8). */
const SMALLEST_MS = 1e12;

const fieldsOf = (value: unknown): Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** What PostgreSQL can store: no null character, no half of a surrogate pair. */
const text = (value: unknown): string =>
	typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().trim() : '';

/** An id is taken to the letter or not at all. */
const idIn = (value: unknown): string | null =>
	typeof value === 'string' && value !== '' && value.length <= LONGEST && text(value) === value ? value : null;

const time = (value: unknown): Date | null =>
	typeof value === 'number' && value > 0 && value <= LATEST_MS
		? new Date(value < SMALLEST_MS ? value * 1000 : value)
		: null;

const times = ({created_at, updated_at}: Fields): {createdAt: Date; updatedAt: Date} => {
	const createdAt = time(created_at);
	return {createdAt: createdAt ?? LONG_AGO, updatedAt: time(updated_at) ?? createdAt ?? LONG_AGO};
};

/** Whether the provider told a time at all, see `LONG_AGO`. */
export const isTold = (at: Date): boolean => at > LONG_AGO;

/** Lower case, as addresses are compared; null for what is none. */
export const emailIn = (value: unknown): string | null => {
	const address = text(value).toLowerCase();
	return /^[^@\s]+@[^@\s]+$/.test(address) && address.length <= 320 ? address : null;
};

const nameOf = ({first_name, last_name}: Fields): string =>
	[text(first_name), text(last_name)].filter(Boolean).join(' ').slice(0, LONGEST).toWellFormed();

/** A role that is there but is no text is as unknown as any other unknown one. */
const roleIn = ({role}: Fields): string | null => (role == null ? null : text(role) || 'unknown');

/** Each reader gives null for a record that cannot be used: one without the ids it is about. */
export const readOrganization = (value: unknown): ProviderOrganization | null => {
	const data = fieldsOf(value);
	const id = idIn(data['id']);
	return id === null
		? null
		: {
				id,
				name: text(data['name']).slice(0, LONGEST).toWellFormed() || id,
				createdBy: idIn(data['created_by']),
				...times(data),
			};
};

/** The id of a record that is no more than that. */
export const readRecordId = (value: unknown): string | null => idIn(fieldsOf(value)['id']);

/**
 * What names a membership whose id was not told: its organization and user, because nobody has two there at a time.
 * Ids are the provider's.
 */
export const membershipIdOf = (organizationId: string, userId: string): string => `${organizationId}/${userId}`;

/** @see readOrganization */
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

/** What a 'deleted' tells: the full membership as a rule, its id, or whose it was (contract/identity 8). */
export const readEndedMembership = (value: unknown): EndedMembership | null => {
	const data = fieldsOf(value);
	const organizationId = idIn(fieldsOf(data['organization'])['id']) ?? idIn(data['organization_id']);
	const userId = idIn(fieldsOf(data['public_user_data'])['user_id']);
	const whose = organizationId === null || userId === null ? null : membershipIdOf(organizationId, userId);
	const id = idIn(data['id']) ?? whose;
	const {createdAt} = times(data);
	return id === null ? null : {id, organizationId, userId, createdAt: isTold(createdAt) ? createdAt : null};
};

/** @see readOrganization */
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
				expiresAt: time(data['expires_at']),
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

/** @see readOrganization */
export const readUser = (value: unknown): ProviderUser | null => {
	const data = fieldsOf(value);
	const id = idIn(data['id']);
	return id === null
		? null
		: {id, ...addressOf(data), name: nameOf(data), lastSignInAt: time(data['last_sign_in_at']), ...times(data)};
};

/** The records of a list that can be used, and how many there are in all; null for what is no list. */
export const readList = <T>(value: unknown, read: (item: unknown) => T | null): {data: T[]; total: number} | null => {
	const {data, total_count} = fieldsOf(value);
	if (!Array.isArray(data)) {
		return null;
	}

	const items = data.map(read).filter((item) => item !== null);
	return {data: items, total: typeof total_count === 'number' ? total_count : items.length};
};

/** What the provider says of a call that it refused: the code that decides, and the words for people. */
export const readProviderError = (value: unknown): {code: string; message: string} => {
	const {errors} = fieldsOf(value);
	const {code, message, long_message} = fieldsOf(Array.isArray(errors) ? errors[0] : null);
	return {
		code: text(code),
		message: (text(long_message) || text(message) || 'The identity provider refused the request').slice(0, 500),
	};
};

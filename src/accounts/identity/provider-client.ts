import type {Logger} from 'pino';
import type {Role} from '../../platform/config/roles.ts';
import {providerUnavailable, required} from '../../platform/errors.ts';
import {createProviderHttp, type ProviderCall} from './provider-http.ts';
import {
	type InvitationStatus,
	type ProviderInvitation,
	type ProviderMembership,
	type ProviderOrganization,
	type ProviderUser,
	readInvitation,
	readList,
	readMembership,
	readOrganization,
	readUser,
} from './provider-payloads.ts';

export type {InvitationStatus, ProviderInvitation, ProviderMembership, ProviderOrganization, ProviderUser};

/** Memberships of a page: that many fit into a bounded answer (fetch-bounded.ts). */
const PAGE = 100;
/** Nobody has more pages of memberships; a provider that repeats pages must not cause an endless loop. */
const MAX_PAGES = 50;

/** The provider's role for all memberships; the effective role is in `public_metadata` (contract/identity 2). */
const SYSTEM_ROLE = 'org:member';

/** Requires a usable answer. @throws 502 for an invalid body or an unexpected 404. */
const requireAnswer = <T>(value: T | null): T => required(value, providerUnavailable);

/**
 * Calls of the identity provider's backend API (contract/identity 10). Ids are the provider's. Each throws 403 with the
 * provider's message for a limit of the organization there, 409 for a duplicate, 400 for a rejected value, and 502 if
 * it fails, limits us, does not answer within 5 s, or is not configured.
 */
export const createProviderClient = (given: {apiUrl: string; apiKey: string | null; log: Logger}) => {
	const call = createProviderHttp(given);

	/** @param segments of the path, percent-encoded, because ids may be any text. */
	const ask = (
		method: ProviderCall['method'],
		segments: readonly string[],
		more: Pick<ProviderCall, 'query' | 'body'> = {},
	) => call({method, path: `/${segments.map(encodeURIComponent).join('/')}`, ...more});

	const made = async <T>(answer: Promise<unknown>, read: (value: unknown) => T | null): Promise<T> =>
		requireAnswer(read(await answer));

	const optional = async <T>(answer: Promise<unknown>, read: (value: unknown) => T | null): Promise<T | null> => {
		const body = await answer;
		return body === null ? null : requireAnswer(read(body));
	};

	/** A list; empty for a 404. */
	const listOf = async <T>(answer: Promise<unknown>, read: (value: unknown) => T | null) =>
		(await optional(answer, (body) => readList(body, read))) ?? {data: [], total: 0};

	return {
		/** Never retried, because a repetition would create a second organization. */
		createOrganization: ({name, createdBy}: {name: string; createdBy: string}): Promise<ProviderOrganization> =>
			made(ask('POST', ['organizations'], {body: {name, created_by: createdBy}}), readOrganization),

		getOrganization: (id: string): Promise<ProviderOrganization | null> =>
			optional(ask('GET', ['organizations', id]), readOrganization),

		/** @returns null if there is none. */
		updateOrganization: (id: string, {name}: {name: string}): Promise<ProviderOrganization | null> =>
			optional(ask('PATCH', ['organizations', id], {body: {name}}), readOrganization),

		/** Succeeds if it is already gone. */
		deleteOrganization: async (id: string): Promise<void> => {
			await ask('DELETE', ['organizations', id]);
		},

		findMembership: async (organizationId: string, userId: string): Promise<ProviderMembership | null> => {
			const query = {user_id: userId, limit: 10};
			const {data} = await listOf(
				ask('GET', ['organizations', organizationId, 'memberships'], {query}),
				readMembership,
			);
			// A provider that ignores the filter would return another user.
			return data.find((one) => one.userId === userId && one.organizationId === organizationId) ?? null;
		},

		/** The number of an organization's members there; the events of some may not have arrived. */
		countMembers: async (organizationId: string): Promise<number> => {
			const answer = ask('GET', ['organizations', organizationId, 'memberships'], {query: {limit: 1}});
			return (await listOf(answer, readMembership)).total;
		},

		listMembershipsOfUser: async (userId: string): Promise<ProviderMembership[]> => {
			const all: ProviderMembership[] = [];
			for (let page = 0; page < MAX_PAGES; page += 1) {
				const query = {limit: PAGE, offset: page * PAGE};
				const answer = ask('GET', ['users', userId, 'organization_memberships'], {query});
				const {data, total} = await listOf(answer, readMembership);
				all.push(...data);
				if (data.length === 0 || (page + 1) * PAGE >= total) {
					break;
				}
			}

			return all;
		},

		/**
		 * Sets `public_metadata.role`, which the next session token carries.
		 * @returns the updated membership, or null if there is none.
		 */
		stampRole: (organizationId: string, userId: string, role: Role): Promise<ProviderMembership | null> => {
			const segments = ['organizations', organizationId, 'memberships', userId, 'metadata'];
			return optional(ask('PATCH', segments, {body: {public_metadata: {role}}}), readMembership);
		},

		/** Succeeds if the user is no longer a member. */
		removeMember: async (organizationId: string, userId: string): Promise<void> => {
			await ask('DELETE', ['organizations', organizationId, 'memberships', userId]);
		},

		/** The provider sends the e-mail. No inviter is named, because an inviter needs a permission that no member here has. */
		createInvitation: (
			organizationId: string,
			{email, role}: {email: string; role: Role},
		): Promise<ProviderInvitation> => {
			const body = {email_address: email, role: SYSTEM_ROLE, public_metadata: {role}};
			return made(ask('POST', ['organizations', organizationId, 'invitations'], {body}), readInvitation);
		},

		/** Newest first. @param email only those to this address, ignoring case. */
		listInvitations: async (
			organizationId: string,
			{
				statuses,
				email,
				page = 1,
				limit = 100,
			}: {statuses: readonly InvitationStatus[]; email?: string; page?: number; limit?: number},
		): Promise<{data: ProviderInvitation[]; total: number}> => {
			const query = {
				status: statuses,
				...(email === undefined ? {} : {email_address: email}),
				order_by: '-created_at',
				limit,
				offset: (page - 1) * limit,
			};
			const answer = ask('GET', ['organizations', organizationId, 'invitations'], {query});
			const {data, total} = await listOf(answer, readInvitation);
			const wanted = email?.toLowerCase();
			return {data: wanted === undefined ? data : data.filter((one) => one.email === wanted), total};
		},

		/** @returns the revoked invitation, or null if no such one is open. */
		revokeInvitation: (organizationId: string, id: string): Promise<ProviderInvitation | null> => {
			const segments = ['organizations', organizationId, 'invitations', id, 'revoke'];
			return optional(ask('POST', segments, {body: {}}), readInvitation);
		},

		getUser: (id: string): Promise<ProviderUser | null> => optional(ask('GET', ['users', id]), readUser),
	};
};

export type ProviderClient = ReturnType<typeof createProviderClient>;

import {randomUUID} from 'node:crypto';
import type {TestFn} from 'ava';
import {type Role, storedRole} from '../../src/platform/config/roles.ts';
import {type IdentityProvider, startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import type {TokenInput} from '../fakes/identity-provider/tokens.ts';
import {organization, type TestOrganization} from './builders.ts';
import {anonymous, type Caller, type Headers} from './callers.ts';
import {createFakeClock, startService, type TestService} from './service.ts';
import {startedFor} from './started.ts';

/** The real service and its identity provider. */
export type Portal = TestService & {provider: IdentityProvider};

/**
 * Starts a service that trusts the sessions of a provider of its own. The fake clock stands still, so one address has
 * 30 portal requests in all until the test moves it; each caller has an address of its own.
 * @param env variables that differ, those of the provider included.
 */
export const startPortal = async (env: Record<string, string> = {}, clock = createFakeClock()): Promise<Portal> => {
	const provider = await startIdentityProvider({clock});
	const service = await startService({...provider.env, ...env}, clock);
	return {
		...service,
		provider,
		stop: async () => {
			await service.stop();
			await provider.stop();
		},
	};
};

/** A portal for all tests of a file. @param env, clock as `startPortal` takes them. */
export const portalOf = (test: TestFn, env: Record<string, string> = {}, clock = createFakeClock()): Portal =>
	startedFor(test, () => startPortal(env, clock));

/** Somebody with a session. Each request has a fresh token, so that a moved clock expires none. */
export const session = (portal: Portal, input: TokenInput, address?: string): Caller => {
	const nobody = anonymous(portal, address);
	const signed = async (headers: Headers = {}): Promise<Headers> => ({
		Authorization: `Bearer ${await portal.provider.token(input)}`,
		...headers,
	});
	return {
		address: nobody.address,
		get: async (path, headers) => nobody.get(path, await signed(headers)),
		head: async (path, headers) => nobody.head(path, await signed(headers)),
		options: async (path, headers) => nobody.options(path, await signed(headers)),
		delete: async (path, headers) => nobody.delete(path, await signed(headers)),
		post: async (path, body, headers) => nobody.post(path, body, await signed(headers)),
		put: async (path, body, headers) => nobody.put(path, body, await signed(headers)),
		patch: async (path, body, headers) => nobody.patch(path, body, await signed(headers)),
	};
};

/** A mirrored person; `clerkUserId` is the provider's id. */
export type TestUser = {id: string; clerkUserId: string; email: string; name: string};

export type Member = {
	organization: TestOrganization;
	/** The provider's id of the organization. */
	clerkOrgId: string;
	user: TestUser;
	caller: Caller;
};

/** The provider's id of an organization that an operator made: on the first call, of a new one at the provider. */
const providerIdOf = async ({provider, services: {db}}: Portal, {id, name}: TestOrganization): Promise<string> => {
	const [row] = (await db('organizations').where({id}).select('clerk_org_id')) as Array<{clerk_org_id: string | null}>;
	const known = row?.clerk_org_id ?? null;
	if (known !== null) {
		return known;
	}

	const created = provider.organization({name});
	await db('organizations').where({id}).update({clerk_org_id: created.id});
	return created.id;
};

const mirroredUser = async ({provider, services: {db, clock}}: Portal): Promise<TestUser> => {
	const id = randomUUID();
	const email = `${id.slice(0, 8)}@example.test`;
	const {id: clerkUserId, first_name} = provider.user({email});
	const name = first_name ?? '';
	const now = clock.now();
	await db('users').insert({id, clerk_user_id: clerkUserId, email, name, created_at: now, updated_at: now});
	return {id, clerkUserId, email, name};
};

/**
 * Somebody who is a member, at the provider as in the database, of an organization: the one given, else a new one on
 * `plan` with an app configuration.
 * @param role null: the provider knows none, so that the claim has none, and the mirrored role is VIEWER.
 */
export const member = async (
	portal: Portal,
	{
		role = 'viewer',
		organization: given,
		...made
	}: {role?: Role | null; organization?: TestOrganization; plan?: string | null; appConfig?: object | null} = {},
): Promise<Member> => {
	const joined = given ?? (await organization(portal, made));
	const clerkOrgId = await providerIdOf(portal, joined);
	const user = await mirroredUser(portal);
	const membership = portal.provider.member({
		organization: clerkOrgId,
		user: user.clerkUserId,
		...(role === null ? {} : {role}),
	});
	const {db, clock} = portal.services;
	const now = clock.now();
	await db('org_members').insert({
		organization_id: joined.id,
		user_id: user.id,
		role: storedRole(role ?? 'viewer'),
		clerk_membership_id: membership.id,
		created_at: now,
		updated_at: now,
	});
	const caller = session(portal, {user: user.clerkUserId, organization: clerkOrgId});
	return {organization: joined, clerkOrgId, user, caller};
};

/** Somebody of the ops organization, whom nobody has mirrored, as an ops organization usually is not. */
export const ops = (portal: Portal): {clerkUserId: string; email: string; caller: Caller} => {
	const email = `${randomUUID().slice(0, 8)}@ops.example.test`;
	const {id: clerkUserId} = portal.provider.user({email});
	portal.provider.member({organization: portal.provider.opsOrganization, user: clerkUserId});
	const caller = session(portal, {user: clerkUserId, organization: portal.provider.opsOrganization});
	return {clerkUserId, email, caller};
};

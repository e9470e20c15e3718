import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {exportJWK, generateKeyPair, type JWTPayload, SignJWT} from 'jose';
import {type Role, storedRole} from '../../src/auth/roles.ts';
import type {Clock} from '../../src/clock.ts';
import {onlyRow} from '../../src/db/db.ts';
import {organization, type TestOrganization} from './builders.ts';
import {anonymous, type Caller, type Headers} from './callers.ts';
import {createFakeClock, startService, type TestService} from './service.ts';

/** What signs session tokens, and shows the key to verify them with. */
type Issuer = {url: string; sign(claims: JWTPayload): Promise<string>; stop(): Promise<void>};

/** The real service with an identity provider that signs whatever a test wants. `opsOrgId` is the provider's id. */
export type Portal = TestService & {issuer: Issuer; opsOrgId: string};

const LIFETIME_SECONDS = 60;

const startIssuer = async (clock: Clock): Promise<Issuer> => {
	const kid = 'ins_2aB';
	const {publicKey, privateKey} = await generateKeyPair('RS256');
	const keySet = JSON.stringify({keys: [{...(await exportJWK(publicKey)), use: 'sig', alg: 'RS256', kid}]});
	const server = createServer((_, response) => response.setHeader('Content-Type', 'application/json').end(keySet));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return {
		url,
		sign: (claims) => {
			const now = Math.floor(clock.now().getTime() / 1000);
			return new SignJWT({iss: url, sid: 'sess_2aB', iat: now, exp: now + LIFETIME_SECONDS, v: 2, ...claims})
				.setProtectedHeader({alg: 'RS256', typ: 'JWT', kid})
				.sign(privateKey);
		},
		stop: async () => {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		},
	};
};

/**
 * Starts a service that trusts sessions. The fake clock stands still, so one address has 30 portal requests in all
 * until the test moves it; each caller has an address of its own.
 */
export const startPortal = async (env: Record<string, string> = {}, clock = createFakeClock()): Promise<Portal> => {
	const issuer = await startIssuer(clock);
	const opsOrgId = 'org_ops';
	const service = await startService(
		{IDP_ISSUER: issuer.url, IDP_JWKS_URL: `${issuer.url}/.well-known/jwks.json`, OPS_ORG_ID: opsOrgId, ...env},
		clock,
	);
	return {
		...service,
		issuer,
		opsOrgId,
		stop: async () => {
			await service.stop();
			await issuer.stop();
		},
	};
};

/** Somebody with a session of these claims. Each request has a fresh token, so that a moved clock expires none. */
export const session = (portal: Portal, claims: JWTPayload, address?: string): Caller => {
	const nobody = anonymous(portal, address);
	const signed = async (headers: Headers = {}): Promise<Headers> => ({
		Authorization: `Bearer ${await portal.issuer.sign(claims)}`,
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

export type Member = {
	organization: TestOrganization;
	/** The provider's id of the organization. */
	clerkOrgId: string;
	/** The mirrored person; `clerkUserId` is the provider's id. */
	user: {id: string; clerkUserId: string; email: string; name: string};
	claims: JWTPayload;
	caller: Caller;
};

/** The provider's id of an organization that an operator made, given on the first call. */
const providerIdOf = async ({services: {db}}: Portal, organizationId: string): Promise<string> => {
	const {rows} = await db.raw<{rows: Array<{clerk_org_id: string}>}>(
		'UPDATE organizations SET clerk_org_id = coalesce(clerk_org_id, ?) WHERE id = ? RETURNING clerk_org_id',
		[`org_${randomUUID()}`, organizationId],
	);
	return onlyRow(rows).clerk_org_id;
};

const mirrorUser = async ({services: {db, clock}}: Portal): Promise<Member['user']> => {
	const id = randomUUID();
	const user = {id, clerkUserId: `user_${id}`, email: `${id.slice(0, 8)}@example.test`, name: `Mona ${id.slice(0, 4)}`};
	const now = clock.now();
	const times = {created_at: now, updated_at: now};
	await db('users').insert({id, clerk_user_id: user.clerkUserId, email: user.email, name: user.name, ...times});
	return user;
};

/**
 * Somebody who is a member, in the database as in the claims, of an organization: the one given, else a new one on
 * `plan` with an app configuration.
 * @param role what the claim says; null: none. The mirrored role is the same, VIEWER for none.
 */
export const member = async (
	portal: Portal,
	{
		role = 'viewer',
		plan = 'GROWTH',
		appConfig,
		organization: given,
	}: {role?: Role | null; plan?: string | null; appConfig?: object | null; organization?: TestOrganization} = {},
): Promise<Member> => {
	const organizationOf = given ?? (await organization(portal, {plan, ...(appConfig === undefined ? {} : {appConfig})}));
	const clerkOrgId = await providerIdOf(portal, organizationOf.id);
	const user = await mirrorUser(portal);
	const {db, clock} = portal.services;
	const now = clock.now();
	await db('org_members').insert({
		organization_id: organizationOf.id,
		user_id: user.id,
		role: storedRole(role ?? 'viewer'),
		created_at: now,
		updated_at: now,
	});
	const claims: JWTPayload = {
		sub: user.clerkUserId,
		email: user.email,
		o: {id: clerkOrgId, rol: 'member'},
		org_metadata: role === null ? null : {role},
	};
	return {organization: organizationOf, clerkOrgId, user, claims, caller: session(portal, claims)};
};

/** Somebody of the ops organization, whom nobody has mirrored, as an ops organization usually is not. */
export const ops = (portal: Portal): {clerkUserId: string; email: string; caller: Caller} => {
	const clerkUserId = `user_${randomUUID()}`;
	const email = `${clerkUserId.slice(5, 13)}@ops.example.test`;
	const claims = {sub: clerkUserId, email, o: {id: portal.opsOrgId, rol: 'member'}, org_metadata: {role: 'viewer'}};
	return {clerkUserId, email, caller: session(portal, claims)};
};

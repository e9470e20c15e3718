import {type Actor, adminBearer, type Caller, systemCaller} from '../audit/audit-log.ts';
import {insufficientRole, invalidSessionToken, missingRole, opsRequired} from '../errors.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import type {User} from './access-store.ts';
import {authenticateAdmin, authenticateKey} from './credentials.ts';
import {actorOf, requireAccess, requireOps} from './organization-access.ts';
import {atLeast, type Role} from './roles.ts';
import type {Session} from './session.ts';

/** What each kind of credential gives to a handler. */
export type Granted = {
	none: {by: Caller};
	/** Somebody who is signed in, perhaps without an organization yet. */
	user: {by: Caller; session: Session};
	/** A member of an organization; `user` is null for an ops session that nobody has mirrored. */
	session: {by: Caller; session: Session; organization: Organization; user: User | null};
	/** A session of the ops organization. */
	ops: {by: Caller; session: Session};
	serverKey: {by: Caller; organization: Organization};
	clientKey: {by: Caller; organization: Organization};
	admin: {by: Caller};
	/** A webhook: the handler verifies what was signed, which is the body to the byte. */
	signature: {by: Caller};
};
export type Credential = keyof Granted;

/** What a request shows of its caller. */
export type Shown = {
	authorization: string | undefined;
	/** The organization that a session names in the query. It is read after the credential and the limit. */
	orgId: () => string | null;
	requestId: string;
};

/** What a route asks of a session beside its being one. */
export type SessionRule = {
	/** Least role; null: none is asked for. */
	role: Role | null;
	/** Whether a session that is not finished passes, and an organization is fetched that was not mirrored yet. */
	onboarding: boolean;
};

/**
 * A caller whose credential holds, before its request counts against the limit.
 * @property subject what the limit is counted against; null: the address.
 * @property grant the rest of the checks, which come after the limit (contract/requests 9), and what the handler gets.
 */
type Admission = {subject: string | null; grant: () => Promise<Granted[Credential]>};

/** @throws 403 below the route's least role. Ops sessions pass (contract/identity 5). */
const requireRole = ({isOps, role}: Session, minimum: Role | null): void => {
	if (minimum === null || isOps) {
		return;
	}

	if (role === null) {
		throw missingRole();
	}

	if (!atLeast(role, minimum)) {
		throw insufficientRole();
	}
};

/**
 * Who calls, and may they: what contract/requests 9 puts before the limit, and as `grant` what it puts after.
 * @throws 401, 403.
 */
export const admit = async (
	services: Services,
	credential: Credential,
	{authorization, orgId, requestId}: Shown,
	{role, onboarding}: SessionRule,
): Promise<Admission> => {
	const caller = (actor: Actor): Caller => ({actor, requestId});
	const sessionOf = async (): Promise<Session> => {
		const session = await services.verifySession(authorization);
		if (session.isPending && credential !== 'user' && !onboarding) {
			throw invalidSessionToken();
		}

		return session;
	};

	switch (credential) {
		case 'none':
		case 'signature':
			return {subject: null, grant: async () => ({by: caller(systemCaller.actor)})};
		case 'admin':
			authenticateAdmin(services.adminToken, authorization);
			return {subject: null, grant: async () => ({by: caller(adminBearer)})};
		case 'serverKey':
		case 'clientKey': {
			const tier = credential === 'serverKey' ? 'SERVER' : 'CLIENT';
			const {organization, key} = await authenticateKey(services, authorization, tier);
			const by = caller({type: 'API_KEY', id: key.id, name: key.prefix});
			return {subject: key.id, grant: async () => ({by, organization})};
		}

		case 'user': {
			const session = await sessionOf();
			requireRole(session, role);
			return {subject: null, grant: async () => ({by: caller(actorOf('USER', session, null)), session})};
		}

		case 'session': {
			const session = await sessionOf();
			requireRole(session, role);
			return {
				subject: null,
				grant: async () => {
					const fetchBy = onboarding ? caller(actorOf('USER', session, null)) : null;
					const {actor, organization, user} = await requireAccess(services, session, {orgId: orgId(), fetchBy});
					return {by: caller(actor), session, organization, user};
				},
			};
		}

		case 'ops': {
			const session = await sessionOf();
			if (!session.isOps) {
				throw opsRequired();
			}

			return {
				subject: null,
				grant: async () => ({by: caller((await requireOps(services, session)).actor), session}),
			};
		}
	}
};

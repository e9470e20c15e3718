import type {OperatorGrant, Scope} from '../platform/config/operator-scopes.ts';
import {atLeast, type Role} from '../platform/config/roles.ts';
import {insufficientRole, invalidSessionToken, missingRole, opsRequired, required} from '../platform/errors.ts';
import type {Counted} from '../platform/limits/enforce-limit.ts';
import type {Services} from '../services.ts';
import {type Actor, type Caller, systemCaller} from './audit/audit-log.ts';
import type {User} from './auth/access-store.ts';
import {authenticateKey} from './auth/credentials.ts';
import {actorOf, requireAccess, requireOps} from './auth/organization-access.ts';
import type {Session} from './auth/session.ts';
import type {Organization} from './organizations/organization-store.ts';
import {authenticateOperator, requireGrant} from './tokens/operator-access.ts';

/** The values that each kind of credential provides to a handler. */
export type Granted = {
	none: {by: Caller};
	/** A signed-in person, perhaps without an organization yet. */
	user: {by: Caller; session: Session};
	/** A member of an organization; `user` is null for an ops session that is not mirrored. */
	session: {by: Caller; session: Session; organization: Organization; user: User | null};
	/** A session of the ops organization. */
	ops: {by: Caller; session: Session};
	serverKey: {by: Caller; organization: Organization};
	clientKey: {by: Caller; organization: Organization};
	/** An operator; `operator` is what the credential may do. */
	admin: {by: Caller; operator: OperatorGrant};
	/** A webhook: the handler verifies the signature over the body's bytes. */
	signature: {by: Caller};
};
export type Credential = keyof Granted;

/** The caller's data in a request. */
type CallerData = {
	authorization: string | undefined;
	/** The organization in a session's query or an operator's path, read after the credential and the limit. */
	orgId: () => string | null;
	requestId: string;
};

/** Further requirements of a route on its session. */
type SessionRule = {
	/** The lowest sufficient role; null for any. */
	role: Role | null;
	/** Whether unfinished sessions are admitted, and organizations that are not mirrored yet are fetched. */
	onboarding: boolean;
	/** What the route wants of an operator; null: nothing more. */
	scope: Scope | null;
};

/**
 * A caller with a valid credential, before the request counts against the limit.
 * @property subject what the limit counts by; null for the address. @property owner of the key. @property grant runs the checks that follow the
 * limit (contract/requests 9) and returns the handler's input.
 */
type Admission = {subject: string | null; owner: Counted['owner']; grant: () => Promise<Granted[Credential]>};

const byAddress = {subject: null, owner: null};

/** @throws 403 below the route's lowest role. Ops sessions pass (contract/identity 5). */
const requireRole = ({isOps, role}: Session, minimum: Role | null): void => {
	if (minimum === null || isOps) {
		return;
	}

	if (!atLeast(required(role, missingRole), minimum)) {
		throw insufficientRole();
	}
};

/**
 * Authenticates and authorizes a caller: the checks of contract/requests 9 before the limit, and as `grant` those after
 * it.
 * @throws 401, 403.
 */
export const admit = async (
	services: Services,
	credential: Credential,
	{authorization, orgId, requestId}: CallerData,
	{role, onboarding, scope}: SessionRule,
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
			return {...byAddress, grant: async () => ({by: caller(systemCaller.actor)})};
		case 'admin': {
			const {actor, grant: operator} = await authenticateOperator(services, authorization);
			requireGrant(operator, scope, orgId());
			return {...byAddress, grant: async () => ({by: caller(actor), operator})};
		}

		case 'serverKey':
		case 'clientKey': {
			const tier = credential === 'serverKey' ? 'SERVER' : 'CLIENT';
			const {organization, key, plan} = await authenticateKey(services, authorization, tier);
			const by = caller({type: 'API_KEY', id: key.id, name: key.prefix});
			return {subject: key.id, owner: {organizationId: organization.id, plan}, grant: async () => ({by, organization})};
		}

		case 'user': {
			const session = await sessionOf();
			requireRole(session, role);
			return {...byAddress, grant: async () => ({by: caller(actorOf('USER', session, null)), session})};
		}

		case 'session': {
			const session = await sessionOf();
			requireRole(session, role);
			return {
				...byAddress,
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
				...byAddress,
				grant: async () => ({by: caller((await requireOps(services, session)).actor), session}),
			};
		}
	}
};

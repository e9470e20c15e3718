import {atLeast, type Role} from '../platform/config/roles.ts';
import {insufficientRole, invalidSessionToken, missingRole, opsRequired, required} from '../platform/errors.ts';
import type {Admission, Admitted, CallerData, CallerRule} from '../platform/http/admission.ts';
import type {Services} from '../services.ts';
import type {Tier} from './api-keys/api-key.ts';
import {authenticateKey} from './api-keys/authenticate-key.ts';
import {type Actor, type Caller, systemCaller} from './audit/audit-log.ts';
import {actorOf, requireAccess, requireOps} from './auth/organization-access.ts';
import type {Granted} from './auth/route.ts';
import type {Session} from './auth/session.ts';
import {fetchOnDemand} from './identity/fetch-on-demand.ts';
import {isSuspended} from './organizations/require-organization.ts';
import {authenticateOperator, requireGrant} from './tokens/operator-access.ts';

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

const callerOf = (actor: Actor, {requestId}: CallerData): Caller => ({actor, requestId});

/** A session, finished unless unfinished ones are admitted too, and of the required role. */
const requireSession = async (
	services: Services,
	{authorization}: CallerData,
	{role}: CallerRule,
	{pending}: {pending: boolean},
): Promise<Session> => {
	const session = await services.verifySession(authorization);
	if (session.isPending && !pending) {
		throw invalidSessionToken();
	}

	requireRole(session, role);
	return session;
};

const keyAdmission =
	(tier: Tier) =>
	async (services: Services, caller: CallerData): Promise<Admitted<Granted['serverKey']>> => {
		const {organization, key, plan} = await authenticateKey(services, caller, tier);
		const by = callerOf({type: 'API_KEY', id: key.id, name: key.prefix}, caller);
		return {subject: key.id, owner: {organizationId: organization.id, plan}, grant: async () => ({by, organization})};
	};

/**
 * Authenticates and authorizes callers: the checks of contract/requests 9 before the limit, and as `grant` those after
 * it.
 */
export const admission: Admission<Granted> = {
	admit: {
		none: async (_, caller) => ({...byAddress, grant: async () => ({by: callerOf(systemCaller.actor, caller)})}),

		signature: async (_, caller) => ({
			...byAddress,
			grant: async () => ({by: callerOf(systemCaller.actor, caller), rawBody: await caller.rawBody()}),
		}),

		admin: async (services, caller, {scope}) => {
			const {actor, grant: operator} = await authenticateOperator(services, caller.authorization);
			requireGrant(operator, scope, caller.orgId());
			return {...byAddress, grant: async () => ({by: callerOf(actor, caller), operator})};
		},

		serverKey: keyAdmission('SERVER'),
		clientKey: keyAdmission('CLIENT'),

		user: async (services, caller, rule) => {
			const session = await requireSession(services, caller, rule, {pending: true});
			return {...byAddress, grant: async () => ({by: callerOf(actorOf('USER', session, null), caller), session})};
		},

		session: async (services, caller, rule) => {
			const {onboarding} = rule;
			const session = await requireSession(services, caller, rule, {pending: onboarding});
			return {
				...byAddress,
				grant: async () => {
					const by = callerOf(actorOf('USER', session, null), caller);
					const {actor, ...access} = await requireAccess(services, session, {
						orgId: caller.orgId(),
						fetchMissing: onboarding ? (named) => fetchOnDemand(services, {...named, by}) : null,
					});
					return {by: callerOf(actor, caller), session, ...access};
				},
			};
		},

		ops: async (services, caller, rule) => {
			const session = await requireSession(services, caller, rule, {pending: false});
			if (!session.isOps) {
				throw opsRequired();
			}

			return {
				...byAddress,
				grant: async () => ({by: callerOf((await requireOps(services, session)).actor, caller), session}),
			};
		},
	},
	isSuspended,
};

import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import {everything, includesScope, type OperatorGrant, type Scope} from '../../platform/config/operator-scopes.ts';
import {invalidAdminToken, missingScope, organizationNotFound, otherOrganizationOnly} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {adminBearer} from '../audit/audit-log.ts';
import {bearerTokenOf, requireBearerToken} from '../auth/session.ts';
import type {Operator} from './operator-providers.ts';
import {createTokenStore} from './token-store.ts';

const PREFIX = 'opl_adm_';

/** A token of an operator: 256 random bits. */
export const createToken = (): string => PREFIX + randomBytes(32).toString('base64url');

/** 256 random bits need no slow hash. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether the header carries the admin token, compared in constant time for any length. */
export const isAdmin = (adminToken: string, authorization: string | undefined): boolean => {
	const token = bearerTokenOf(authorization);
	return token !== null && timingSafeEqual(digest(token), digest(adminToken));
};

/** Longer tokens are refused: a JWT of a provider has some thousand characters. */
const MAX_LENGTH = 16_384;

type Deps = Pick<Services, 'adminToken' | 'background' | 'clock' | 'db' | 'operatorProviders'>;

const ofToken = async ({background, clock, db}: Deps, token: string): Promise<Operator> => {
	const now = clock.now();
	const store = createTokenStore(db);
	const holder = await store.find(hashOf(token), now);
	if (holder === null) {
		throw invalidAdminToken();
	}

	const day = now.toISOString().slice(0, 10);
	if (holder.lastUsedOn !== day) {
		background.run('record the use of a token', store.noteUse(holder.id, day));
	}

	const {id, name, scopes, organization, expiresAt} = holder;
	return {actor: {...adminBearer, id, name}, grant: {scopes, organization, expiresAt, tokenId: id}};
};

/**
 * The operator of a header: the admin token, a token with scopes, or a JWT of a configured provider (contract/api-keys 9).
 * @throws 401; 503 if a provider's keys are not known and cannot be read.
 */
export const authenticateOperator = async (services: Deps, authorization: string | undefined): Promise<Operator> => {
	const token = requireBearerToken(authorization);
	if (isAdmin(services.adminToken, authorization)) {
		return {actor: adminBearer, grant: everything};
	}

	if (token.length > MAX_LENGTH) {
		throw invalidAdminToken();
	}

	if (token.startsWith(PREFIX)) {
		return ofToken(services, token);
	}

	return services.operatorProviders.authenticate(token);
};

/** @throws 403 with the scope's name, for an operator without it. */
export const requireScope = ({scopes}: OperatorGrant, scope: Scope): void => {
	if (scopes !== null && !includesScope(scopes, scope)) {
		throw missingScope(scope);
	}
};

/**
 * The requirements of a route on an operator, in this order: the scope (403), then its organization; any other one is
 * not found (404). @param organization of the path; null: the route is of no organization.
 */
export const requireGrant = (grant: OperatorGrant, scope: Scope | null, organization: string | null): void => {
	if (scope === null) {
		return;
	}

	requireScope(grant, scope);
	if (grant.organization === null) {
		return;
	}

	if (organization === null) {
		throw otherOrganizationOnly();
	}

	const {id, orgKey} = grant.organization;
	if (organization.toLowerCase() !== id && organization !== orgKey) {
		throw organizationNotFound();
	}
};

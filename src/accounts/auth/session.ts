import type {JWTHeaderParameters, JWTPayload} from 'jose';
import type {Logger} from 'pino';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import {type Role, roleOf} from '../../platform/config/roles.ts';
import {
	HttpError,
	invalidSessionToken,
	malformedAuthorization,
	missingAuthorization,
	missingSession,
	providerUnavailable,
	required,
} from '../../platform/errors.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import {createKeySet} from './key-set.ts';

/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1; the scheme is case-insensitive), or null. */
export const bearerTokenOf = (authorization: string | undefined): string | null =>
	/^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;

/** The token of the header. @throws 401. */
export const requireBearerToken = (authorization: string | undefined): string => {
	if (authorization === undefined || authorization === '') {
		throw missingAuthorization();
	}

	return required(bearerTokenOf(authorization), malformedAuthorization);
};

/** The contents of a verified session token. Organization and user are the provider's ids. */
export type Session = {
	userId: string;
	/** The active organization; null without one. */
	organizationId: string | null;
	/** The application's role, never the provider's own; null if the claim has no known role. */
	role: Role | null;
	email: string | null;
	/** Signed in but not finished, such as without an organization: valid for onboarding only. */
	isPending: boolean;
	/** Whether the active organization is the ops organization (contract/identity 5). */
	isOps: boolean;
	claims: JWTPayload;
};

/** Reads a session from an Authorization header. @throws 401, 502. */
type SessionVerifier = (authorization: string | undefined) => Promise<Session>;

/** `cat` of machine tokens, which are not sessions (contract/identity 2). */
const MACHINE_TOKEN = 'cl_B7d4PD333AAA';

/** Tolerated difference between the provider's clock and ours, in seconds. */
const CLOCK_TOLERANCE = 5;

/** A newly rotated key is found after this time at the latest. */
const KEY_SET_COOLDOWN_MS = 10_000;

/** A claim that PostgreSQL cannot store, with a null character or a lone surrogate, counts as absent. */
const textOrNull = (value: unknown): string | null =>
	typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed() ? value : null;

/** Both claim forms: `o.id` (compact), else `org_id` (contract/identity 2). */
const readClaims = (claims: JWTPayload, userId: string, opsOrgId: string | null): Session => {
	const organizationId = textOrNull(fieldsOf(claims.o).id) ?? textOrNull(claims.org_id);
	return {
		userId,
		organizationId,
		role: roleOf(fieldsOf(claims.org_metadata).role),
		email: textOrNull(claims.email),
		isPending: claims.sts === 'pending',
		isOps: opsOrgId !== null && organizationId === opsOrgId,
		claims,
	};
};

/**
 * Creates the verifier of session tokens (contract/identity 3): RS256 only, a key of the provider's set, issuer, times,
 * and audience and authorized party if configured.
 * @returns a reader of the Authorization header. @throws 401, always with the same message; 502 if the key set is
 * unavailable.
 */
export const createSessionVerifier = ({idp, opsOrgId}: Config, clock: Clock, log: Logger): SessionVerifier => {
	const {issuer, jwksUrl, audience, authorizedParties} = idp;
	const keySet = createKeySet({
		issuer: issuer ?? '',
		find: async () => jwksUrl ?? '',
		cooldownMs: KEY_SET_COOLDOWN_MS,
		unavailable: providerUnavailable,
		clock,
		log,
	});

	const verify = async (token: string): Promise<{claims: JWTPayload; header: JWTHeaderParameters}> => {
		if (jwksUrl === null || issuer === null) {
			throw invalidSessionToken();
		}

		// Loaded with the first session, because installations without an identity provider never need it.
		const {jwtVerify} = await import('jose');
		try {
			const {payload, protectedHeader} = await jwtVerify(token, keySet, {
				algorithms: ['RS256'],
				issuer,
				...(audience.length === 0 ? {} : {audience: [...audience]}),
				clockTolerance: CLOCK_TOLERANCE,
				currentDate: clock.now(),
				requiredClaims: ['sub', 'sid', 'exp', 'iat'],
			});
			return {claims: payload, header: protectedHeader as JWTHeaderParameters};
		} catch (error) {
			throw error instanceof HttpError ? error : invalidSessionToken();
		}
	};

	return async (authorization) => {
		const {claims, header} = await verify(required(bearerTokenOf(authorization), missingSession));
		const userId = textOrNull(claims.sub);
		const isPartyAllowed = authorizedParties.length === 0 || authorizedParties.some((party) => party === claims.azp);
		if (userId === null || header.cat === MACHINE_TOKEN || !isPartyAllowed) {
			throw invalidSessionToken();
		}

		return readClaims(claims, userId, opsOrgId);
	};
};

import type {FetchImplementation, JWTHeaderParameters, JWTPayload, JWTVerifyGetKey} from 'jose';
import type {Clock} from '../../platform/clock.ts';
import type {Config} from '../../platform/config/config.ts';
import {type Role, roleOf} from '../../platform/config/roles.ts';
import {
	invalidSessionToken,
	malformedAuthorization,
	missingAuthorization,
	missingSession,
	providerUnavailable,
	required,
} from '../../platform/errors.ts';
import {fetchBounded} from '../../platform/http/fetch-bounded.ts';
import {fieldsOf, parseJson} from '../../platform/http/untrusted-json.ts';

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

/**
 * A newly rotated key is found after this time at the latest. It also limits how often invented key ids make us ask the
 * provider.
 */
const KEY_SET_COOLDOWN_MS = 10_000;
const KEY_SET_TIMEOUT_MS = 5000;
/** The retry interval for a failing key set; jose's own cooldown counts successes only. */
const KEY_SET_FAILURE_COOLDOWN_MS = 1000;

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

/** Loaded with the first session, because installations without an identity provider never need it. */
const loadJose = () => import('jose');

/** Whether the key set was unavailable, which is not the caller's fault. */
const isKeySetFault = ({errors}: typeof import('jose'), error: unknown): boolean =>
	error instanceof errors.JWKSTimeout ||
	error instanceof errors.JWKSInvalid ||
	!(error instanceof errors.JOSEError) ||
	// jose's generic error class, without a code, for a key set answer other than 200.
	error.constructor === errors.JOSEError;

/** False for a proxy's page instead of a key set. */
const hasKeys = (text: string): boolean => Array.isArray(fieldsOf(parseJson(text)).keys);

/**
 * Fetches the key set. After a failure it pauses for a second: many sessions must not cause many requests.
 * @throws the last fetch's error.
 */
const createKeySetFetch = (clock: Clock): FetchImplementation => {
	let failure: {at: number; error: unknown} | null = null;
	const load: FetchImplementation = async (url, options) => {
		const response = await fetchBounded(url, options);
		const text = await response.text();
		if (response.status !== 200 || !hasKeys(text)) {
			throw new Error(`the key set answered with status ${response.status}`);
		}

		return new Response(text, {headers: {'Content-Type': 'application/json'}});
	};

	return async (url, options) => {
		// If the clock was set back, do not extend the pause.
		const passed = failure === null ? Number.POSITIVE_INFINITY : Math.abs(clock.now().getTime() - failure.at);
		if (failure !== null && passed < KEY_SET_FAILURE_COOLDOWN_MS) {
			throw failure.error;
		}

		try {
			const answer = await load(url, options);
			failure = null;
			return answer;
		} catch (error) {
			failure = {at: clock.now().getTime(), error};
			throw error;
		}
	};
};

/** `Authorization: Bearer <token>` of a session. @throws 401 with the message of contract/requests 7. */
const sessionToken = (authorization: string | undefined): string => {
	return required(bearerTokenOf(authorization), missingSession);
};

/**
 * Creates the verifier of session tokens (contract/identity 3): RS256 only, a key of the provider's set, issuer, times,
 * and audience and authorized party if configured.
 * @returns a reader of the Authorization header. @throws 401, always with the same message; 502 if the key set is
 * unavailable.
 */
export const createSessionVerifier = ({idp, opsOrgId}: Config, clock: Clock): SessionVerifier => {
	const {issuer, jwksUrl, audience, authorizedParties} = idp;
	let keySet: JWTVerifyGetKey | null = null;
	const fetchKeySet = createKeySetFetch(clock);

	const verify = async (token: string): Promise<{claims: JWTPayload; header: JWTHeaderParameters}> => {
		if (jwksUrl === null || issuer === null) {
			throw invalidSessionToken();
		}

		const jose = await loadJose();
		keySet ??= jose.createRemoteJWKSet(new URL(jwksUrl), {
			cooldownDuration: KEY_SET_COOLDOWN_MS,
			timeoutDuration: KEY_SET_TIMEOUT_MS,
			[jose.customFetch]: fetchKeySet,
		});
		try {
			const {payload, protectedHeader} = await jose.jwtVerify(token, keySet, {
				algorithms: ['RS256'],
				issuer,
				...(audience.length === 0 ? {} : {audience: [...audience]}),
				clockTolerance: CLOCK_TOLERANCE,
				currentDate: clock.now(),
				requiredClaims: ['sub', 'sid', 'exp', 'iat'],
			});
			return {claims: payload, header: protectedHeader as JWTHeaderParameters};
		} catch (error) {
			throw isKeySetFault(jose, error) ? providerUnavailable(error) : invalidSessionToken();
		}
	};

	return async (authorization) => {
		const {claims, header} = await verify(sessionToken(authorization));
		const userId = textOrNull(claims.sub);
		const isPartyAllowed = authorizedParties.length === 0 || authorizedParties.some((party) => party === claims.azp);
		if (userId === null || header.cat === MACHINE_TOKEN || !isPartyAllowed) {
			throw invalidSessionToken();
		}

		return readClaims(claims, userId, opsOrgId);
	};
};

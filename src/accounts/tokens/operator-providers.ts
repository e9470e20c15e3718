import type {JWTPayload, JWTVerifyGetKey} from 'jose';
import type {Logger} from 'pino';
import type {Clock} from '../../platform/clock.ts';
import type {OperatorProvider, OperatorRule} from '../../platform/config/operator-providers.ts';
import {expandScopes, type OperatorGrant} from '../../platform/config/operator-scopes.ts';
import type {Db} from '../../platform/db/db.ts';
import {
	claimRefused,
	HttpError,
	invalidAdminToken,
	invalidClaim,
	operatorProviderUnavailable,
} from '../../platform/errors.ts';
import {cutText} from '../../platform/text.ts';
import {type Actor, adminBearer} from '../audit/audit-log.ts';
import {createKeySet, fetchJson} from '../auth/key-set.ts';
import {createOrganizationStore} from '../organizations/organization-store.ts';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/** Tolerated difference between a provider's clock and ours, in seconds. */
const TOLERANCE = 60;
/** The shortest time between two reads of a provider's keys. */
const COOLDOWN_MS = 30_000;
/** A provider may let its tokens end at a time that no Date has. */
const LAST_TIME = Date.UTC(9999, 0);

/** A claim by its name, or by a path with dots: `realm_access.roles`. Names with dots come first. */
const claimOf = (claims: Record<string, unknown>, name: string): unknown => {
	if (Object.hasOwn(claims, name)) {
		return claims[name];
	}

	const dot = name.indexOf('.');
	const inner = dot === -1 ? undefined : claims[name.slice(0, dot)];
	return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
		? claimOf(inner as Record<string, unknown>, name.slice(dot + 1))
		: undefined;
};

/** The texts of a claim: one, those of a list, or none. Numbers and booleans count as their texts. */
const textsOf = (claim: unknown): string[] =>
	[claim]
		.flat()
		.flatMap((value) =>
			typeof value === 'string'
				? [value]
				: typeof value === 'number' || typeof value === 'boolean'
					? [String(value)]
					: [],
		);

const meets = (wanted: string, value: string): boolean =>
	wanted.endsWith('*') ? value.startsWith(wanted.slice(0, -1)) : value === wanted;

/** The first claim of a rule that does not match; null if all do. */
const refusedClaim = (claims: JWTPayload, rule: OperatorRule): string | null => {
	for (const [name, wanted] of Object.entries(rule.claims)) {
		// An unverified address proves nothing.
		const values = name === 'email' && claims['email_verified'] !== true ? [] : textsOf(claimOf(claims, name));
		if (![wanted].flat().some((one) => values.some((value) => meets(one, value)))) {
			return name;
		}
	}

	return null;
};

/** The name of a person or a pipeline in the audit log. */
const nameOf = (claims: JWTPayload): string => {
	const email = claims['email_verified'] === true ? claims['email'] : undefined;
	const [name] = [email, claims['preferred_username'], claims.sub].filter(
		(one): one is string => typeof one === 'string' && one !== '' && !one.includes('\0') && one.isWellFormed(),
	);
	return cutText(name ?? 'unnamed', 200);
};

/** The issuer that a token names, not verified yet; null if it is no JWT. */
const issuerIn = async (token: string): Promise<string | null> => {
	const {decodeJwt} = await import('jose');
	try {
		const {iss}: {iss?: unknown} = decodeJwt(token);
		return typeof iss === 'string' ? iss : null;
	} catch {
		return null;
	}
};

/** The URL of a provider's keys by discovery (OpenID Connect Discovery 1.0, 4). */
export const findKeys = async (issuer: string): Promise<string> => {
	const about = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
	if (about['issuer'] !== issuer) {
		throw new Error(`the discovery document of ${issuer} is of another issuer`);
	}

	return String(about['jwks_uri']);
};

/** An operator: its actor in the audit log, and its grant. */
export type Operator = {actor: Actor; grant: OperatorGrant};

type OperatorProviders = {
	/** @throws 401, 403 naming the claim that no rule takes, 503. */
	authenticate(token: string): Promise<Operator>;
};

type Deps = {providers: readonly OperatorProvider[]; clock: Clock; db: Db; log: Logger};

/** Verifies tokens of the providers in OPERATOR_OIDC_FILE. */
export const createOperatorProviders = ({providers, clock, db, log}: Deps): OperatorProviders => {
	const keysOf = (issuer: string) =>
		createKeySet({
			issuer,
			find: () => findKeys(issuer),
			cooldownMs: COOLDOWN_MS,
			unavailable: operatorProviderUnavailable,
			clock,
			log,
		});
	const known = new Map(providers.map((provider) => [provider.issuer, {provider, keys: keysOf(provider.issuer)}]));

	const verify = async (
		token: string,
		{provider, keys}: {provider: OperatorProvider; keys: JWTVerifyGetKey},
	): Promise<JWTPayload> => {
		const jose = await import('jose');
		try {
			const {payload} = await jose.jwtVerify(token, keys, {
				algorithms: ALGORITHMS,
				issuer: provider.issuer,
				audience: provider.audience,
				clockTolerance: TOLERANCE,
				currentDate: clock.now(),
				requiredClaims: ['exp', 'sub'],
			});
			if (typeof payload.sub !== 'string' || payload.sub === '') {
				throw invalidClaim('sub');
			}

			return payload;
		} catch (error) {
			if (error instanceof HttpError) {
				throw error;
			}

			if (error instanceof jose.errors.JWTClaimValidationFailed || error instanceof jose.errors.JWTExpired) {
				throw invalidClaim(error.claim);
			}

			throw invalidAdminToken();
		}
	};

	return {
		authenticate: async (token) => {
			const issuer = known.size === 0 ? null : await issuerIn(token);
			const found = known.get(issuer ?? '');
			if (found === undefined) {
				throw issuer === null ? invalidAdminToken() : invalidClaim('iss');
			}

			const claims = await verify(token, found);
			let refused: string | null = null;
			for (const rule of found.provider.rules) {
				const claim = refusedClaim(claims, rule);
				if (claim === null) {
					const organization =
						rule.org === undefined ? null : await createOrganizationStore(db).findByReference(rule.org);
					if (rule.org !== undefined && organization === null) {
						log.warn({org: rule.org}, 'a rule of OPERATOR_OIDC_FILE names an organization that is not there');
						throw claimRefused('org');
					}

					return {
						actor: {...adminBearer, id: cutText(String(claims.sub), 200), name: nameOf(claims)},
						grant: {
							scopes: expandScopes(rule.scopes, organization !== null),
							organization: organization === null ? null : {id: organization.id, orgKey: organization.orgKey},
							expiresAt: new Date(Math.min(Number(claims.exp) * 1000, LAST_TIME)),
							tokenId: null,
						},
					};
				}

				refused ??= claim;
			}

			throw claimRefused(refused ?? '');
		},
	};
};

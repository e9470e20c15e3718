import type {JWK, JWTVerifyGetKey} from 'jose';
import type {Logger} from 'pino';
import {type Clock, MINUTE_MS} from '../../platform/clock.ts';
import {operatorProviderUnavailable} from '../../platform/errors.ts';
import {fetchBounded} from '../../platform/http/fetch-bounded.ts';

/** Shortest time between two reads of the keys. */
const COOLDOWN_MS = 30_000;
/** Shortest time between two reads while no keys are known yet, when nobody can sign in. */
const FIRST_COOLDOWN_MS = 1000;
const FRESH_MS = 10 * MINUTE_MS;
const TIMEOUT_MS = 5000;

/** JSON of a provider. @throws for another status, a redirect, a slow or a large answer. */
const fetchJson = async (url: string): Promise<Record<string, unknown>> => {
	const response = await fetchBounded(url, {redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS)});
	const text = await response.text();
	if (response.status !== 200) {
		throw new Error(`${url} answered with status ${response.status}`);
	}

	return JSON.parse(text) as Record<string, unknown>;
};

/**
 * The keys of a provider by discovery (OpenID Connect Discovery 1.0, 4). Known keys stay in use while the provider is
 * unavailable.
 */
export const createProviderKeys = (issuer: string, clock: Clock, log: Logger) => {
	let current: {at: number; get: JWTVerifyGetKey; ids: Set<string>} | null = null;
	let triedAt = Number.NEGATIVE_INFINITY;
	let reading: Promise<void> | null = null;

	const read = async (): Promise<void> => {
		triedAt = clock.now().getTime();
		const about = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
		if (about['issuer'] !== issuer) {
			throw new Error(`the discovery document of ${issuer} is of another issuer`);
		}

		const set = await fetchJson(String(about['jwks_uri']));
		const {createLocalJWKSet} = await import('jose');
		const keys = set['keys'] as JWK[];
		// It checks that they are keys.
		const get = createLocalJWKSet({keys});
		current = {at: clock.now().getTime(), get, ids: new Set(keys.flatMap(({kid}) => kid ?? []))};
	};

	/** One reading at a time, and none too soon after the last one. */
	const refresh = async (): Promise<void> => {
		const cooldown = current === null ? FIRST_COOLDOWN_MS : COOLDOWN_MS;
		if (reading === null && Math.abs(clock.now().getTime() - triedAt) < cooldown) {
			return;
		}

		reading ??= read().finally(() => {
			reading = null;
		});
		await reading;
	};

	const refreshIfPossible = (): Promise<void> =>
		refresh().catch((error: unknown) => log.warn({err: error, issuer}, 'the keys of a provider could not be read'));

	return {
		/** @throws 503 if no keys are known. */
		keySet: async (): Promise<JWTVerifyGetKey> => {
			if (current === null) {
				await refreshIfPossible();
			} else if (clock.now().getTime() - current.at > FRESH_MS) {
				// Not awaited: the known keys are used meanwhile.
				void refreshIfPossible();
			}

			if (current === null) {
				throw operatorProviderUnavailable();
			}

			return async (header, token) => {
				if (header.kid !== undefined && current?.ids.has(header.kid) === false) {
					await refreshIfPossible();
				}

				if (current === null) {
					throw operatorProviderUnavailable();
				}

				return current.get(header, token);
			};
		},
	};
};

import type {JWK, JWTVerifyGetKey} from 'jose';
import type {Logger} from 'pino';
import {type Clock, MINUTE_MS} from '../../platform/clock.ts';
import type {HttpError} from '../../platform/errors.ts';
import {fetchBounded} from '../../platform/http/fetch-bounded.ts';

/** Shortest time between two reads while no keys are known yet, when nobody can sign in. */
const FIRST_COOLDOWN_MS = 1000;
const FRESH_MS = 10 * MINUTE_MS;
const TIMEOUT_MS = 5000;

/** JSON of a provider. @throws for another status, a redirect, a slow or a large answer. */
export const fetchJson = async (url: string): Promise<Record<string, unknown>> => {
	const response = await fetchBounded(url, {redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS)});
	const text = await response.text();
	if (response.status !== 200) {
		throw new Error(`${url} answered with status ${response.status}`);
	}

	return JSON.parse(text) as Record<string, unknown>;
};

type Options = {
	/** Whose keys they are. */
	issuer: string;
	/** The URL of the set. */
	find: () => Promise<string>;
	/** The shortest time between two reads: invented key ids must not make us ask time and again. */
	cooldownMs: number;
	/** The error while no keys are known, because of the cause. */
	unavailable: (cause: unknown) => HttpError;
	clock: Clock;
	log: Logger;
};

/**
 * The keys by which a provider signs tokens. Known keys stay in use while the provider is unavailable.
 * @returns a reader of a token's key. @throws `unavailable` if no keys are known.
 */
export const createKeySet = ({issuer, find, cooldownMs, unavailable, clock, log}: Options): JWTVerifyGetKey => {
	let current: {at: number; get: JWTVerifyGetKey; ids: Set<string>} | null = null;
	let triedAt = Number.NEGATIVE_INFINITY;
	let failure: unknown;
	let reading: Promise<void> | null = null;

	const read = async (): Promise<void> => {
		triedAt = clock.now().getTime();
		try {
			const set = await fetchJson(await find());
			const {createLocalJWKSet} = await import('jose');
			const keys = set['keys'] as JWK[];
			// It checks that they are keys.
			const get = createLocalJWKSet({keys});
			current = {at: clock.now().getTime(), get, ids: new Set(keys.flatMap(({kid}) => kid ?? []))};
		} catch (error) {
			failure = error;
			log.warn({err: error, issuer}, 'the keys of a provider could not be read');
		}
	};

	/** One reading at a time, and none too soon after the last one. */
	const refresh = async (): Promise<void> => {
		const cooldown = current === null ? FIRST_COOLDOWN_MS : cooldownMs;
		// If the clock was set back, the pause is not extended.
		if (reading === null && Math.abs(clock.now().getTime() - triedAt) < cooldown) {
			return;
		}

		reading ??= read().finally(() => {
			reading = null;
		});
		await reading;
	};

	const known = () => {
		if (current === null) {
			throw unavailable(failure);
		}

		return current;
	};

	return async (header, token) => {
		if (current === null) {
			await refresh();
		} else if (clock.now().getTime() - current.at > FRESH_MS) {
			// Not awaited: the known keys are used meanwhile.
			void refresh();
		}

		if (header.kid !== undefined && !known().ids.has(header.kid)) {
			await refresh();
		}

		return known().get(header, token);
	};
};

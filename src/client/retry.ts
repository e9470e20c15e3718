import {OplinkApiError, OplinkConnectionError} from './errors.ts';

/** Failures worth a retry. Any other 4xx is not. */
export type RetryRule = {connection: boolean; rateLimit: boolean; serverFailure: boolean};

/** The columns of contract/sdk 8. */
export const retryRules = {
	/** /match, resolution, and /links (contract/sdk 8). */
	resolution: {connection: true, rateLimit: true, serverFailure: true},
	/** Identity and events: a request answered with 5xx may have been stored, and would be counted twice. */
	report: {connection: true, rateLimit: true, serverFailure: false},
	/** A link that a person waits for, and that another one can replace. */
	hurried: {connection: true, rateLimit: false, serverFailure: true},
	/** The next app open sends it again. */
	session: {connection: false, rateLimit: false, serverFailure: false},
} as const satisfies Record<string, RetryRule>;

/** Seconds before the next attempt unless the server states them. @param attempt counts from 0. */
const backoff = (attempt: number): number => Math.min(0.5 * 2 ** attempt, 5);

/** Seconds to wait, or null if a retry is useless. */
const waitAfter = (error: unknown, attempt: number, rule: RetryRule): number | null => {
	if (error instanceof OplinkConnectionError) {
		return rule.connection ? backoff(attempt) : null;
	}

	if (!(error instanceof OplinkApiError)) {
		return null;
	}

	if (error.status === 429) {
		return rule.rateLimit ? (error.retryAfterSeconds ?? backoff(attempt)) : null;
	}

	return error.status >= 500 && rule.serverFailure ? backoff(attempt) : null;
};

/**
 * Retries until success, a permanent failure, or the end of the shared budget.
 * @param maxRetries attempts after the first one. @throws the last error.
 */
export const withRetries = async <T>(
	attempt: () => Promise<T>,
	{rule, maxRetries, sleep}: {rule: RetryRule; maxRetries: number; sleep: (seconds: number) => Promise<unknown>},
): Promise<T> => {
	for (let index = 0; ; index += 1) {
		try {
			return await attempt();
		} catch (error) {
			const seconds = index < maxRetries ? waitAfter(error, index, rule) : null;
			if (seconds === null) {
				throw error;
			}

			await sleep(seconds);
		}
	}
};

const chunk = (): string => Math.random().toString(36).slice(2).padEnd(11, '0');

/**
 * A unique request key. Hermes and pages on plain http lack crypto.randomUUID; Math.random suffices there, since the
 * key must only be unique within an organization and not be hard to guess.
 */
export const randomKey = (): string => {
	const {crypto} = globalThis as {crypto?: {randomUUID?: () => string}};
	return crypto?.randomUUID?.() ?? `${chunk()}${chunk()}${chunk()}`;
};

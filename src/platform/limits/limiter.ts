import type {Limit} from '../config/limits.ts';

/**
 * Counts requests in sliding windows: never more than `max` of a subject are admitted in any `windowSeconds`. A refused
 * request costs nothing.
 */
export type Limiter = {
	/** Admits a request (0), or returns the whole seconds, at least 1, until a retry can succeed. */
	take(limit: Limit, subject: string): Promise<number> | number;
	/** Resolves if the shared windows decide, rejects if they cannot. */
	ping(): Promise<void>;
	close(): Promise<void>;
};

/** A request to count one call of a subject. */
export type Check = {limit: Limit; subject: string};

import type {IncomingMessage} from 'node:http';
import type {Limit} from './limits.ts';

/**
 * Counts requests in sliding windows: never more than `max` of a subject are admitted in any `windowSeconds`. A refused
 * request costs nothing.
 */
export type Limiter = {
	/**
	 * Admits a request (0), or returns the whole seconds, at least 1, until a retry can succeed.
	 * @param before requests that were admitted elsewhere since, and are not counted yet.
	 */
	take(limit: Limit, subject: string, before?: number): Promise<number> | number;
	/** Resolves where the shared windows decide, rejects where they cannot. */
	ping(): Promise<void>;
	close(): Promise<void>;
};

/** Waits of requests that were counted before they were handed on, so that nobody counts them again. */
export const decidedWaits = new WeakMap<IncomingMessage, number>();

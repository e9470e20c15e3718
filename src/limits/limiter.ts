import type {IncomingMessage} from 'node:http';
import type {Limit} from './limits.ts';

/**
 * Counts requests in sliding windows: never more than `max` of a subject are admitted in any `windowSeconds`. A refused
 * request costs nothing.
 */
export type Limiter = {
	/**
	 * Admits a request (0), or returns the whole seconds, at least 1, until a retry can succeed.
	 * @param before requests that were admitted elsewhere and are not counted yet.
	 */
	take(limit: Limit, subject: string, before?: number): Promise<number> | number;
	/** Resolves if the shared windows decide, rejects if they cannot. */
	ping(): Promise<void>;
	close(): Promise<void>;
};

/** Waits of requests that were counted before their route was known, so that they are counted once. */
export const decidedWaits = new WeakMap<IncomingMessage, {limit: Limit; wait: number}>();

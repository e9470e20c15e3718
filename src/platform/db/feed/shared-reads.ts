import {setTimeout as pause} from 'node:timers/promises';
import {isConnectionFault} from '../../connection-fault.ts';
import type {ChangeFeed} from './change-feed.ts';
import {keepUnlessChanged} from './keep-unless-changed.ts';

const PAUSE_MS = 100;
const PATIENCE_MS = 3000;

/**
 * Repeats a read that lost its connection shortly after memory was trusted: in a failover one process receives messages of
 * the new primary before the connections of another lead there. A process that is alone uses its memory.
 */
const readThroughFailover = async <T>(feed: ChangeFeed, read: () => Promise<T>): Promise<T> => {
	for (const began = performance.now(); ; ) {
		try {
			return await read();
		} catch (error) {
			if (
				!isConnectionFault(error) ||
				!feed.wasTrusted() ||
				feed.isAlone() ||
				performance.now() - began > PATIENCE_MS
			) {
				throw error;
			}
		}

		await pause(PAUSE_MS);
	}
};

/** The entries behind shared reads. */
type Entries<T> = {
	/** The value of a key if it can be trusted. */
	use(key: string): {value: T} | undefined;
	/** The value of a key, perhaps a stale one. */
	peek(key: string): {value: T} | undefined;
	keep(key: string, value: T): void;
};

/**
 * Reads of the values of a cache: concurrent callers share one. If the database cannot be reached, a cached value
 * replaces it only if no other process is known, because then no process has written meanwhile. A process that has lost
 * contact with others reports the failure instead of answering with stale data.
 */
export const createSharedReads = <T>(feed: ChangeFeed, {use, peek, keep}: Entries<T>) => {
	const reading = new Map<string, Promise<T>>();
	let version = 0;

	const readFresh = async (key: string, read: () => Promise<T>): Promise<T> => {
		const kept = peek(key);
		try {
			return await keepUnlessChanged(
				() => readThroughFailover(feed, async () => (use(key) ?? {value: await read()}).value),
				() => version,
				(value) => keep(key, value),
			);
		} catch (error) {
			if (kept !== undefined && feed.isAlone() && isConnectionFault(error)) {
				return kept.value;
			}

			throw error;
		}
	};

	return {
		get: (key: string, read: () => Promise<T>): Promise<T> => {
			const underWay = reading.get(key);
			if (underWay !== undefined) {
				return underWay;
			}

			const fresh = readFresh(key, read).finally(() => {
				if (reading.get(key) === fresh) {
					reading.delete(key);
				}
			});
			reading.set(key, fresh);
			return fresh;
		},
		/** After a change: later callers start a new read, which sees it, and earlier reads are not cached. */
		renew: (): void => {
			version += 1;
			reading.clear();
		},
	};
};

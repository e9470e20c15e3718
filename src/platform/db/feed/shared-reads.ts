import {setTimeout as pause} from 'node:timers/promises';
import {LRUCache} from 'lru-cache';
import {isConnectionFault} from '../../connection-fault.ts';
import type {ChangeFeed} from './change-feed.ts';
import type {Change} from './notification-channel.ts';

/** If something changed during the read, the value may be stale: return it, but do not cache it. */
export const keepUnlessChanged = async <T>(
	read: () => Promise<T>,
	version: () => number,
	keep: (value: T) => void,
): Promise<T> => {
	const before = version();
	const value = await read();
	if (version() === before) {
		keep(value);
	}

	return value;
};

const PAUSE_MS = 100;
const RETRY_FOR_MS = 3000;

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
				performance.now() - began > RETRY_FOR_MS
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

/** A cache of few or rarely changing values, which is cleared as one. */
export type SmallCache<T> = {
	/** The value of a key, cached while the change feed is trusted; concurrent callers share one read. */
	get(key: string, read: () => Promise<T>): Promise<T>;
};

/** @param max cached values; the least recently used one is evicted. @param isOfIt whether a change may affect any of them. */
export const createSmallCache = <T>(
	feed: ChangeFeed,
	{max, isOfIt}: {max: number; isOfIt: (change: Change) => boolean},
): SmallCache<T> => {
	const entries = new LRUCache<string, {value: T}>({max});
	const use = (key: string) => (feed.isTrusted() ? entries.get(key) : undefined);
	const reads = createSharedReads<T>(feed, {
		use,
		peek: (key) => entries.peek(key),
		keep: (key, value) => entries.set(key, {value}),
	});
	feed.onChange((change) => {
		if (change.kind === 'everything' || isOfIt(change)) {
			entries.clear();
			reads.renew();
		}
	});
	return {
		get: async (key, read) => {
			const kept = use(key);
			return kept === undefined ? reads.get(key, read) : kept.value;
		},
	};
};

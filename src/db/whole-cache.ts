import {setTimeout as pause} from 'node:timers/promises';
import type {ChangeFeed} from './change-feed.ts';
import type {Change} from './change-message.ts';
import {isConnectionFault} from './db.ts';
import {keepUnlessChanged} from './keep-unless-changed.ts';

/**
 * Whether cached data may replace an unreachable database: only if no other process is known, because then nobody has
 * written meanwhile. A process that has lost contact with others reports the failure instead of answering with stale
 * data.
 */
export const mayServeStale = (feed: ChangeFeed, error: unknown): boolean => feed.isAlone() && isConnectionFault(error);

const PAUSE_MS = 100;
const PATIENCE_MS = 3000;

/**
 * Reads again where a connection was lost a moment after memory was trusted: in a failover one process hears the new
 * primary before the connections of another one lead there. A process that is alone has its memory.
 */
export const readThroughFailover = async <T>(feed: ChangeFeed, read: () => Promise<T>): Promise<T> => {
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

/** A cache of few or rarely changing values, which is cleared as a whole. */
export type WholeCache<T> = {
	/** The value of a key, cached while the change feed is trusted; concurrent callers share one read. */
	get(key: string, read: () => Promise<T>): Promise<T>;
};

/** @param most cached values; one more clears the cache. @param isOfIt whether a change may affect any of them. */
export const createWholeCache = <T>(
	feed: ChangeFeed,
	{most, isOfIt}: {most: number; isOfIt: (change: Change) => boolean},
): WholeCache<T> => {
	const entries = new Map<string, {value: T}>();
	const reading = new Map<string, Promise<T>>();
	let version = 0;
	feed.onChange((change) => {
		if (change.kind === 'everything' || isOfIt(change)) {
			version += 1;
			entries.clear();
			// Later callers start a new read, which sees the change.
			reading.clear();
		}
	});

	const readFresh = async (key: string, read: () => Promise<T>): Promise<T> => {
		const kept = entries.get(key);
		const again = async () => {
			const held = entries.get(key);
			return held !== undefined && feed.isTrusted() ? held.value : read();
		};
		try {
			return await keepUnlessChanged(
				() => readThroughFailover(feed, again),
				() => version,
				(value) => {
					if (entries.size >= most) {
						entries.clear();
					}

					entries.set(key, {value});
				},
			);
		} catch (error) {
			if (kept !== undefined && mayServeStale(feed, error)) {
				return kept.value;
			}

			throw error;
		}
	};

	return {
		get: async (key, read) => {
			const kept = entries.get(key);
			if (kept !== undefined && feed.isTrusted()) {
				return kept.value;
			}

			const underWay = reading.get(key);
			if (underWay !== undefined) {
				return underWay;
			}

			const fresh = readFresh(key, read);
			reading.set(key, fresh);
			try {
				return await fresh;
			} finally {
				if (reading.get(key) === fresh) {
					reading.delete(key);
				}
			}
		},
	};
};

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
		try {
			return await keepUnlessChanged(
				read,
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

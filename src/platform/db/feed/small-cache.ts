import {LRUCache} from 'lru-cache';
import type {ChangeFeed} from './change-feed.ts';
import type {Change} from './change-message.ts';
import {createSharedReads} from './shared-reads.ts';

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

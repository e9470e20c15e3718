import type {ChangeFeed} from '../db/change-feed.ts';
import {createSharedReads} from '../db/shared-reads.ts';
import {createWholeCache, type WholeCache} from '../db/whole-cache.ts';

/** Measured overhead of an entry beside its value and its address, rounded up. */
const BYTES_PER_ENTRY = 320;

/**
 * An LRU cache of resolved addresses, valid as long as the change feed can be trusted.
 * @param bytesOf size of a value with everything derived from it and cached with it.
 * @param isCurrent whether a cached value is still valid at this time; if not, it is read again.
 */
export const createLinkCache = <T>(
	feed: ChangeFeed,
	{megabytes, bytesOf, isCurrent}: {megabytes: number; bytesOf: (value: T) => number; isCurrent: (value: T) => boolean},
) => {
	const max = megabytes * 1024 * 1024;
	const entries = new Map<string, {value: T | null; bytes: number}>();
	let bytes = 0;
	let hits = 0;
	let misses = 0;

	/** The cached value of a key if it can be trusted, now marked as most recently used. */
	const use = (key: string): {value: T | null} | undefined => {
		const kept = entries.get(key);
		if (kept === undefined || !feed.isTrusted() || (kept.value !== null && !isCurrent(kept.value))) {
			return undefined;
		}

		// The map's order is the order of use.
		entries.delete(key);
		entries.set(key, kept);
		hits += 1;
		return kept;
	};

	const drop = (key: string) => {
		bytes -= entries.get(key)?.bytes ?? 0;
		entries.delete(key);
	};

	const keep = (key: string, value: T | null) => {
		drop(key);
		const own = BYTES_PER_ENTRY + key.length + (value === null ? 0 : bytesOf(value));
		entries.set(key, {value, bytes: own});
		bytes += own;
		while (bytes > max) {
			const [oldest = ''] = entries.keys();
			drop(oldest);
		}
	};

	const reads = createSharedReads<T | null>(feed, {use, peek: (key) => entries.get(key), keep});

	feed.onChange((change) => {
		reads.renew();
		switch (change.kind) {
			case 'link':
				drop(`${change.orgKey}/${change.shortCode}`);
				return;
			case 'organization':
				// A look at each is a millisecond of many thousands, and sets by organization would take memory from links.
				for (const key of entries.keys()) {
					if (key.startsWith(`${change.orgKey}/`)) {
						drop(key);
					}
				}

				return;
			case 'files':
				return;
			default:
				entries.clear();
				bytes = 0;
		}
	});

	return {
		/** The value of an address; concurrent callers share one read. An unknown address is cached as null. */
		get: async (orgKey: string, shortCode: string, read: () => Promise<T | null>): Promise<T | null> => {
			const key = `${orgKey}/${shortCode}`;
			const used = use(key);
			if (used !== undefined) {
				return used.value;
			}

			misses += 1;
			return reads.get(key, read);
		},
		/** The cached value of an address, or null for an unknown one; undefined if it is not cached or not trusted. */
		peek: (orgKey: string, shortCode: string): T | null | undefined => use(`${orgKey}/${shortCode}`)?.value,
		/** Lookups since the start; a miss queries the database. `bytes` is an estimate. */
		figures: () => ({
			hits,
			misses,
			entries: entries.size,
			bytes,
			isTrusted: feed.isTrusted(),
		}),
	};
};

export type LinkCache<T> = ReturnType<typeof createLinkCache<T>>;

/** Most cached host names, because anybody may send any name. */
const MAX_HOSTS = 10_000;

export const createHostCache = <T>(feed: ChangeFeed): WholeCache<T | null> =>
	createWholeCache<T | null>(feed, {
		most: MAX_HOSTS,
		isOfIt: ({kind}) => kind === 'domains' || kind === 'organization',
	});

import type {ChangeFeed} from '../db/change-feed.ts';
import {createSharedReads} from '../db/shared-reads.ts';
import {createWholeCache, type WholeCache} from '../db/whole-cache.ts';

/** Measured overhead of an entry beside its value and its address, rounded up. */
const BYTES_PER_ENTRY = 320;

const orgKeyOf = (key: string): string => key.slice(0, key.indexOf('/'));

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
	const byOrganization = new Map<string, Set<string>>();
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

	const release = (key: string) => {
		bytes -= entries.get(key)?.bytes ?? 0;
		entries.delete(key);
	};

	const drop = (key: string, orgKey: string) => {
		release(key);
		const keys = byOrganization.get(orgKey);
		keys?.delete(key);
		if (keys?.size === 0) {
			byOrganization.delete(orgKey);
		}
	};

	const keep = (key: string, value: T | null) => {
		release(key);
		const orgKey = orgKeyOf(key);
		const own = BYTES_PER_ENTRY + key.length + (value === null ? 0 : bytesOf(value));
		entries.set(key, {value, bytes: own});
		bytes += own;
		const keys = byOrganization.get(orgKey);
		if (keys === undefined) {
			byOrganization.set(orgKey, new Set([key]));
		} else {
			keys.add(key);
		}

		while (bytes > max) {
			const [oldest = ''] = entries.keys();
			drop(oldest, orgKeyOf(oldest));
		}
	};

	const reads = createSharedReads<T | null>(feed, {use, peek: (key) => entries.get(key), keep});

	feed.onChange((change) => {
		reads.renew();
		switch (change.kind) {
			case 'link':
				drop(`${change.orgKey}/${change.shortCode}`, change.orgKey);
				return;
			case 'organization':
				for (const key of byOrganization.get(change.orgKey) ?? []) {
					release(key);
				}

				byOrganization.delete(change.orgKey);
				return;
			case 'files':
				return;
			default:
				entries.clear();
				byOrganization.clear();
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

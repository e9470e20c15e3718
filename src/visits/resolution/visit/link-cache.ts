import {setImmediate as nextTurn} from 'node:timers/promises';
import {LRUCache} from 'lru-cache';
import {createBatches} from '../../../platform/db/batches.ts';
import type {ChangeFeed} from '../../../platform/db/feed/change-feed.ts';
import type {Change} from '../../../platform/db/feed/change-message.ts';
import {createSharedReads} from '../../../platform/db/feed/shared-reads.ts';
import {createSmallCache, type SmallCache} from '../../../platform/db/feed/small-cache.ts';

/** A link's code and its organization's key. */
type Address = {orgKey: string; shortCode: string};

/** Reads the values of addresses in one statement, in their order; null for an unknown address. */
type ReadLinks<T> = (addresses: readonly Address[]) => Promise<Array<T | null>>;

/** Most links of one statement, and most statements at once. */
const MAX_READ = 500;
const MAX_READS = 2;

/** Links that are cached in one turn of the event loop while the cache is filled. */
const FILLED_AT_ONCE = 100;

const keyOf = ({orgKey, shortCode}: Address): string => `${orgKey}/${shortCode}`;

/** Collects the changes during a read, which make some of its values stale. */
const createChangesMeanwhile = () => {
	const links = new Set<string>();
	const organizations = new Set<string>();
	let areAll = false;
	return {
		note: (change: Change): void => {
			if (change.kind === 'link') {
				links.add(keyOf(change));
			} else if (change.kind === 'organization') {
				organizations.add(change.orgKey);
			} else {
				areAll ||= change.kind !== 'files';
			}
		},
		touched: (address: Address): boolean => areAll || links.has(keyOf(address)) || organizations.has(address.orgKey),
	};
};

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
	type Entry = {value: T | null};
	const sizeOf = ({value}: Entry, key: string): number =>
		BYTES_PER_ENTRY + key.length + (value === null ? 0 : bytesOf(value));
	const maxSize = megabytes * 1024 * 1024;
	const entries = new LRUCache<string, Entry>({maxSize, sizeCalculation: sizeOf});
	let hits = 0;
	let misses = 0;

	/** The cached value of a key if it can be trusted, now marked as most recently used. */
	const use = (key: string): Entry | undefined => {
		const kept = feed.isTrusted() ? entries.get(key) : undefined;
		if (kept === undefined || (kept.value !== null && !isCurrent(kept.value))) {
			return undefined;
		}

		hits += 1;
		return kept;
	};

	const reads = createSharedReads<T | null>(feed, {
		use,
		peek: (key) => entries.peek(key),
		keep: (key, value) => entries.set(key, {value}),
	});
	/** Links that are missing in one turn of the event loop are read together. */
	const readTogether = createBatches<{address: Address; read: ReadLinks<T>}, T | null>({
		max: MAX_READ,
		atOnce: MAX_READS,
		many: async (missing) => missing[0]?.read(missing.map(({address}) => address)) ?? [],
		one: async ({address, read}) => (await read([address]))[0] ?? null,
	});
	let filling: ReturnType<typeof createChangesMeanwhile> | null = null;

	feed.onChange((change) => {
		reads.renew();
		filling?.note(change);
		switch (change.kind) {
			case 'link':
				entries.delete(keyOf(change));
				return;
			case 'organization':
				// A look at each is a millisecond of many thousands, and sets by organization would take memory from links.
				for (const key of [...entries.keys()]) {
					if (key.startsWith(`${change.orgKey}/`)) {
						entries.delete(key);
					}
				}

				return;
			case 'files':
				return;
			default:
				entries.clear();
		}
	});

	return {
		/**
		 * The value of an address; concurrent callers share one read, and reads of several addresses one statement. An unknown
		 * address is cached as null.
		 */
		get: async (address: Address, read: ReadLinks<T>): Promise<T | null> => {
			const key = keyOf(address);
			const used = use(key);
			if (used !== undefined) {
				return used.value;
			}

			misses += 1;
			return reads.get(key, () => readTogether({address, read}));
		},
		/**
		 * Caches values that one statement reads, up to a share of the memory. Those that change meanwhile, or are cached
		 * already, are left out.
		 * @param read called with the most values that can fit.
		 */
		fill: async (
			share: number,
			read: (most: number) => Promise<ReadonlyArray<{address: Address; value: T}>>,
		): Promise<void> => {
			const changes = createChangesMeanwhile();
			filling = changes;
			const most = maxSize * share;
			let filled = 0;
			try {
				const found = await read(Math.floor(most / BYTES_PER_ENTRY));
				for (const [index, {address, value}] of found.entries()) {
					const key = keyOf(address);
					const own = sizeOf({value}, key);
					if (filled + own > most) {
						break;
					}

					if (!changes.touched(address) && !entries.has(key)) {
						entries.set(key, {value}, {size: own});
						filled += own;
					}

					if (index % FILLED_AT_ONCE === FILLED_AT_ONCE - 1) {
						await nextTurn();
					}
				}
			} finally {
				filling = null;
			}
		},
		/** The cached value of an address, or null for an unknown one; undefined if it is not cached or not trusted. */
		peek: (address: Address): T | null | undefined => use(keyOf(address))?.value,
		/** Lookups since the start; a miss queries the database. `bytes` is an estimate. */
		figures: () => ({
			hits,
			misses,
			entries: entries.size,
			bytes: entries.calculatedSize,
			isTrusted: feed.isTrusted(),
		}),
	};
};

export type LinkCache<T> = ReturnType<typeof createLinkCache<T>>;

/** Most cached host names, because anybody may send any name. */
const MAX_HOSTS = 10_000;

export const createHostCache = <T>(feed: ChangeFeed): SmallCache<T | null> =>
	createSmallCache<T | null>(feed, {
		max: MAX_HOSTS,
		isOfIt: ({kind}) => kind === 'domains' || kind === 'organization',
	});

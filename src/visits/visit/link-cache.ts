import {setImmediate as nextTurn} from 'node:timers/promises';
import {LRUCache} from 'lru-cache';
import {createBatches} from '../../platform/db/batches.ts';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import type {Change} from '../../platform/db/feed/notification-channel.ts';
import {createSharedReads, createSmallCache, type SmallCache} from '../../platform/db/feed/shared-reads.ts';

/** A link's code and its organization's key. */
type Address = {orgKey: string; shortCode: string};

/** Reads the values of addresses in one statement, in their order; null for an unknown address. */
type ReadLinks<T> = (addresses: readonly Address[]) => Promise<Array<T | null>>;

/** Maximum links of one statement, and statements at once. */
const MAX_READ = 500;
const MAX_READS = 2;

/** Links that are cached in one turn of the event loop while the cache is filled. */
const FILLED_AT_ONCE = 100;

const keyOf = ({orgKey, shortCode}: Address): string => `${orgKey}/${shortCode}`;

/** Collects the changes during a read, which make some of its values stale. */
class ChangesMeanwhile {
	readonly #links = new Set<string>();
	readonly #organizations = new Set<string>();
	#areAll = false;

	note(change: Change): void {
		if (change.kind === 'link') {
			this.#links.add(keyOf(change));
		} else if (change.kind === 'organization') {
			this.#organizations.add(change.orgKey);
		} else {
			this.#areAll ||= change.kind !== 'files';
		}
	}

	touched(address: Address): boolean {
		return this.#areAll || this.#links.has(keyOf(address)) || this.#organizations.has(address.orgKey);
	}
}

/** Measured overhead of an entry beside its value and its address, rounded up. */
const BYTES_PER_ENTRY = 320;

type Entry<T> = {value: T | null};

type Options<T> = {
	megabytes: number;
	/** Size of a value with everything derived from it and cached with it. */
	bytesOf: (value: T) => number;
	/** Whether a cached value is still valid at this time; if not, it is read again. */
	isCurrent: (value: T) => boolean;
};

/** An LRU cache of resolved addresses, valid as long as the change feed can be trusted. */
export class LinkCache<T> {
	readonly #feed: ChangeFeed;
	readonly #options: Options<T>;
	readonly #entries: LRUCache<string, Entry<T>>;
	readonly #reads: ReturnType<typeof createSharedReads<T | null>>;
	/** Links that are missing in one turn of the event loop are read together. */
	readonly #readTogether = createBatches<{address: Address; read: ReadLinks<T>}, T | null>({
		max: MAX_READ,
		atOnce: MAX_READS,
		many: async (missing) => missing[0]?.read(missing.map(({address}) => address)) ?? [],
		one: async ({address, read}) => (await read([address]))[0] ?? null,
	});
	#filling: ChangesMeanwhile | null = null;
	#hits = 0;
	#misses = 0;

	constructor(feed: ChangeFeed, options: Options<T>) {
		this.#feed = feed;
		this.#options = options;
		this.#entries = new LRUCache({maxSize: this.#maxSize, sizeCalculation: (entry, key) => this.#sizeOf(entry, key)});
		this.#reads = createSharedReads<T | null>(feed, {
			use: (key) => this.#use(key),
			peek: (key) => this.#entries.peek(key),
			keep: (key, value) => this.#entries.set(key, {value}),
		});
		feed.onChange((change) => this.#renew(change));
	}

	get #maxSize(): number {
		return this.#options.megabytes * 1024 * 1024;
	}

	#sizeOf({value}: Entry<T>, key: string): number {
		return BYTES_PER_ENTRY + key.length + (value === null ? 0 : this.#options.bytesOf(value));
	}

	/** The cached value of a key if it can be trusted, now marked as most recently used. */
	#use(key: string): Entry<T> | undefined {
		const kept = this.#feed.isTrusted() ? this.#entries.get(key) : undefined;
		if (kept === undefined || (kept.value !== null && !this.#options.isCurrent(kept.value))) {
			return undefined;
		}

		this.#hits += 1;
		return kept;
	}

	#renew(change: Change): void {
		this.#reads.renew();
		this.#filling?.note(change);
		switch (change.kind) {
			case 'link':
				this.#entries.delete(keyOf(change));
				return;
			case 'organization':
				// A look at each is a millisecond of many thousands, and sets by organization would take memory from links.
				for (const key of [...this.#entries.keys()]) {
					if (key.startsWith(`${change.orgKey}/`)) {
						this.#entries.delete(key);
					}
				}

				return;
			case 'files':
				return;
			default:
				this.#entries.clear();
		}
	}

	/**
	 * The value of an address; concurrent callers share one read, and reads of several addresses one statement. An unknown
	 * address is cached as null.
	 */
	async get(address: Address, read: ReadLinks<T>): Promise<T | null> {
		const key = keyOf(address);
		const used = this.#use(key);
		if (used !== undefined) {
			return used.value;
		}

		this.#misses += 1;
		return this.#reads.get(key, () => this.#readTogether({address, read}));
	}

	/**
	 * Caches values that one statement reads, up to a share of the memory. Those that change meanwhile, or are cached
	 * already, are left out.
	 * @param read called with the most values that can fit.
	 */
	async fill(
		share: number,
		read: (most: number) => Promise<ReadonlyArray<{address: Address; value: T}>>,
	): Promise<void> {
		const changes = new ChangesMeanwhile();
		this.#filling = changes;
		const most = this.#maxSize * share;
		let filled = 0;
		try {
			const found = await read(Math.floor(most / BYTES_PER_ENTRY));
			for (const [index, {address, value}] of found.entries()) {
				const key = keyOf(address);
				const own = this.#sizeOf({value}, key);
				if (filled + own > most) {
					break;
				}

				if (!changes.touched(address) && !this.#entries.has(key)) {
					this.#entries.set(key, {value}, {size: own});
					filled += own;
				}

				if (index % FILLED_AT_ONCE === FILLED_AT_ONCE - 1) {
					await nextTurn();
				}
			}
		} finally {
			this.#filling = null;
		}
	}

	/** The cached value of an address, or null for an unknown one; undefined if it is not cached or not trusted. */
	peek(address: Address): T | null | undefined {
		return this.#use(keyOf(address))?.value;
	}

	/** Lookups since the start; a miss queries the database. `bytes` is an estimate. */
	figures() {
		return {
			hits: this.#hits,
			misses: this.#misses,
			entries: this.#entries.size,
			bytes: this.#entries.calculatedSize,
			isTrusted: this.#feed.isTrusted(),
		};
	}
}

/** Maximum cached host names, because any caller may send any name. */
const MAX_HOSTS = 10_000;

export const createHostCache = <T>(feed: ChangeFeed): SmallCache<T | null> =>
	createSmallCache<T | null>(feed, {
		max: MAX_HOSTS,
		isOfIt: ({kind}) => kind === 'domains' || kind === 'organization',
	});

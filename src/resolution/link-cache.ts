import type {ChangeFeed} from '../db/change-feed.ts';
import {keepUnlessChanged} from '../db/keep-unless-changed.ts';
import {createWholeCache, standsIn, type WholeCache} from '../db/whole-cache.ts';

/** What an entry takes beside its value and the letters of its address: measured, and rounded up. */
const BYTES_PER_ENTRY = 320;

/**
 * What addresses resolve to, kept in memory as long as the change feed can be trusted. Least recently used goes first.
 */
export type LinkCache<T> = {
	/** The value of an address; read once, however many ask for it at a time. Nothing there is kept too, as null. */
	get(orgKey: string, shortCode: string, read: () => Promise<T | null>): Promise<T | null>;
	/** The kept value of an address, null where nothing is there; undefined where it is not kept or not to be trusted. */
	peek(orgKey: string, shortCode: string): T | null | undefined;
	figures(): CacheFigures;
};

/** Lookups since the start, of which a miss asks the database; `bytes` are reckoned. */
export type CacheFigures = {hits: number; misses: number; entries: number; bytes: number; isTrusted: boolean};

/** The same for host names. */
export type HostCache<T> = WholeCache<T | null>;

/**
 * @param bytesOf what a value takes, and all that is made of it and kept with it.
 * @param isCurrent whether a kept value still stands, for what time alone ends: one that does not is read again.
 */
export const createLinkCache = <T>(
	feed: ChangeFeed,
	{megabytes, bytesOf, isCurrent}: {megabytes: number; bytesOf: (value: T) => number; isCurrent: (value: T) => boolean},
): LinkCache<T> => {
	const max = megabytes * 1024 * 1024;
	const entries = new Map<string, {value: T | null; bytes: number}>();
	let bytes = 0;
	const byOrganization = new Map<string, Set<string>>();
	const reading = new Map<string, Promise<T | null>>();
	let version = 0;
	let hits = 0;
	let misses = 0;

	/** What is kept under a key, where it may be relied on; it is now what was used last. */
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

	feed.onChange((change) => {
		version += 1;
		// Whoever asks from now on gets a reading of its own, which begins after the change.
		reading.clear();
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

	const keep = (key: string, orgKey: string, value: T | null) => {
		release(key);
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
			drop(oldest, oldest.slice(0, oldest.indexOf('/')));
		}
	};

	return {
		get: async (orgKey, shortCode, read) => {
			const key = `${orgKey}/${shortCode}`;
			const used = use(key);
			if (used !== undefined) {
				return used.value;
			}

			const kept = entries.get(key);
			misses += 1;
			const underWay = reading.get(key);
			if (underWay !== undefined) {
				return underWay;
			}

			const fresh = keepUnlessChanged(
				read,
				() => version,
				(value) => keep(key, orgKey, value),
			).catch((error: unknown) => {
				if (kept !== undefined && standsIn(feed, error)) {
					return kept.value;
				}

				throw error;
			});
			reading.set(key, fresh);
			try {
				return await fresh;
			} finally {
				if (reading.get(key) === fresh) {
					reading.delete(key);
				}
			}
		},
		peek: (orgKey, shortCode) => use(`${orgKey}/${shortCode}`)?.value,
		figures: () => ({
			hits,
			misses,
			entries: entries.size,
			bytes,
			isTrusted: feed.isTrusted(),
		}),
	};
};

/** Most host names that are kept: anybody may send any. */
const MAX_HOSTS = 10_000;

export const createHostCache = <T>(feed: ChangeFeed): HostCache<T> =>
	createWholeCache<T | null>(feed, {
		most: MAX_HOSTS,
		isOfIt: ({kind}) => kind === 'domains' || kind === 'organization',
	});

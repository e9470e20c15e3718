import type {ChangeFeed} from '../db/change-feed.ts';
import {keepUnlessChanged} from '../db/keep-unless-changed.ts';
import {createWholeCache, standsIn, type WholeCache} from '../db/whole-cache.ts';

/** One organization's part of the cache, by short code. */
type Part<T> = Map<string, {value: T}>;

/** What a kept value costs, keys and bookkeeping included: measured, and rounded up. */
const BYTES_PER_ENTRY = 1500;

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

export const createLinkCache = <T>(feed: ChangeFeed, {megabytes}: {megabytes: number}): LinkCache<T> => {
	const max = Math.max(Math.floor((megabytes * 1024 * 1024) / BYTES_PER_ENTRY), 1);
	const entries: Part<T | null> = new Map();
	const byOrganization = new Map<string, Set<string>>();
	const reading = new Map<string, Promise<T | null>>();
	let version = 0;
	let hits = 0;
	let misses = 0;

	const drop = (key: string, orgKey: string) => {
		entries.delete(key);
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
					entries.delete(key);
				}

				byOrganization.delete(change.orgKey);
				return;
			case 'files':
				return;
			default:
				entries.clear();
				byOrganization.clear();
		}
	});

	const keep = (key: string, orgKey: string, value: T | null) => {
		entries.delete(key);
		entries.set(key, {value});
		const keys = byOrganization.get(orgKey);
		if (keys === undefined) {
			byOrganization.set(orgKey, new Set([key]));
		} else {
			keys.add(key);
		}

		if (entries.size > max) {
			const [oldest = ''] = entries.keys();
			drop(oldest, oldest.slice(0, oldest.indexOf('/')));
		}
	};

	return {
		get: async (orgKey, shortCode, read) => {
			const key = `${orgKey}/${shortCode}`;
			const kept = entries.get(key);
			if (kept !== undefined && feed.isTrusted()) {
				// The map's order is the order of use.
				entries.delete(key);
				entries.set(key, kept);
				hits += 1;
				return kept.value;
			}

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
		peek: (orgKey, shortCode) => {
			const key = `${orgKey}/${shortCode}`;
			const kept = entries.get(key);
			if (kept === undefined || !feed.isTrusted()) {
				return undefined;
			}

			entries.delete(key);
			entries.set(key, kept);
			hits += 1;
			return kept.value;
		},
		figures: () => ({
			hits,
			misses,
			entries: entries.size,
			bytes: entries.size * BYTES_PER_ENTRY,
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

import {LRUCache} from 'lru-cache';
import type {ChangeFeed} from '../../platform/db/feed/change-feed.ts';
import {keepUnlessChanged} from '../../platform/db/feed/shared-reads.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {ApiKey} from './api-key-store.ts';

/** The owner of a request's key. */
export type KeyHolder = {organization: Organization; key: ApiKey};

/** A cache of keys and their organizations, valid as long as the change feed is trusted (docs/internals.md). */
type KeyCache = {
	/** The keys with a prefix. An empty result is not cached, because anybody may send any prefix. */
	get(prefix: string, read: () => Promise<KeyHolder[]>): Promise<KeyHolder[]>;
};

/** The maximum of cached prefixes, at about a kilobyte each; the least recently used one is evicted. */
const MAX_PREFIXES = 20_000;

export const createKeyCache = (feed: ChangeFeed): KeyCache => {
	const entries = new LRUCache<string, KeyHolder[]>({max: MAX_PREFIXES});
	let version = 0;

	feed.onChange((change) => {
		if (change.kind === 'organization') {
			version += 1;
			for (const [prefix, holders] of [...entries.entries()]) {
				if (holders.some(({organization}) => organization.orgKey === change.orgKey)) {
					entries.delete(prefix);
				}
			}
		} else if (change.kind === 'everything') {
			version += 1;
			entries.clear();
		}
	});

	const keep = (prefix: string, holders: KeyHolder[]) => {
		if (holders.length > 0) {
			entries.set(prefix, holders);
		} else {
			entries.delete(prefix);
		}
	};

	return {
		get: async (prefix, read) => {
			const kept = feed.isTrusted() ? entries.get(prefix) : undefined;
			if (kept !== undefined) {
				return kept;
			}

			return keepUnlessChanged(
				read,
				() => version,
				(holders) => keep(prefix, holders),
			);
		},
	};
};

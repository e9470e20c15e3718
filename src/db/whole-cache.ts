import type {ChangeFeed} from './change-feed.ts';
import type {Change} from './change-message.ts';
import {isConnectionFault} from './db.ts';
import {keepUnlessChanged} from './keep-unless-changed.ts';

/**
 * Whether a database that is away may be stood in for. Only where nobody else is known: then nobody has written
 * meanwhile. A process among others that cannot hear them says so instead of answering with what may be over.
 */
export const standsIn = (feed: ChangeFeed, error: unknown): boolean => feed.isAlone() && isConnectionFault(error);

/** Values that are few enough, or change rarely enough, to forget them all at once. */
export type WholeCache<T> = {
	/** The value of a key; read once, however many ask for it at a time, and kept while the change feed can be trusted. */
	get(key: string, read: () => Promise<T>): Promise<T>;
};

/**
 * @param most values that are kept; one more has all forgotten.
 * @param isOfIt whether a change may concern any of them.
 */
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
			// Whoever asks from now on gets a reading of its own, which begins after the change.
			reading.clear();
		}
	});

	const readAnew = async (key: string, read: () => Promise<T>): Promise<T> => {
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
			if (kept !== undefined && standsIn(feed, error)) {
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

			const fresh = readAnew(key, read);
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

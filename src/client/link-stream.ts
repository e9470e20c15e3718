import type {LinkData} from './link-shapes.ts';
import type {MatchFound} from './sdk-shapes.ts';

/** Is given the link, and how it was found. May be async; what it throws is logged and harms nobody. */
export type LinkListener = (link: LinkData, match: MatchFound) => void | Promise<void>;

export type LinkStream = {
	/** @returns what ends the subscription. */
	subscribe(listener: LinkListener): () => void;
	publish(match: MatchFound): void;
};

/** Hands links to listeners. One that comes before any listener waits for the first, so that none is lost at start. */
export const createLinkStream = (warn: (message: string, error: unknown) => void): LinkStream => {
	// An object per subscription: the same function may be subscribed twice, and each ends for itself.
	const subscriptions = new Set<{listener: LinkListener}>();
	let waiting: MatchFound | null = null;

	const deliver = async ({listener}: {listener: LinkListener}, match: MatchFound): Promise<void> => {
		try {
			const {linkId, path, params} = match;
			await listener({linkId, path, params}, match);
		} catch (error) {
			warn('oplink: a link listener failed', error);
		}
	};

	const publish = (match: MatchFound): void => {
		waiting = subscriptions.size === 0 ? match : null;
		for (const subscription of [...subscriptions]) {
			deliver(subscription, match);
		}
	};

	return {
		publish,
		subscribe: (listener) => {
			const subscription = {listener};
			subscriptions.add(subscription);
			// Later, so that the caller holds what ends the subscription before the listener runs.
			Promise.resolve().then(() => {
				if (waiting !== null && subscriptions.size > 0) {
					publish(waiting);
				}
			});
			return () => {
				subscriptions.delete(subscription);
			};
		},
	};
};

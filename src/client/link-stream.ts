import type {LinkData} from './link-shapes.ts';
import type {MatchFound} from './sdk-shapes.ts';

/** Receives the link and how it was found. May be async; its errors are logged and affect nobody else. */
export type LinkListener = (link: LinkData, match: MatchFound) => void | Promise<void>;

export type LinkStream = {
	/** @returns a function that ends the subscription. */
	subscribe(listener: LinkListener): () => void;
	publish(match: MatchFound): void;
};

/** Passes links to listeners. A link without a listener waits for the first one, so that none is lost at startup. */
export const createLinkStream = (warn: (message: string, error: unknown) => void): LinkStream => {
	// An object per subscription, so that a function subscribed twice can be removed once.
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
			// Deferred, so that the caller can end the subscription before the listener runs.
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

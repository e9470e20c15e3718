/** Receives what is published. May be async; its errors are logged and affect nobody else. */
export type Listener<Given extends unknown[]> = (...given: Given) => void | Promise<void>;

export type Listeners<Given extends unknown[]> = {
	/** @returns a function that ends the subscription. */
	subscribe(listener: Listener<Given>): () => void;
	publish(...given: Given): void;
};

/**
 * Passes what is published to listeners. Without one it waits for the first, so that nothing is lost at startup.
 * @param fault the message of a listener's error.
 */
export const createListeners = <Given extends unknown[]>(
	fault: string,
	warn: (message: string, error: unknown) => void,
): Listeners<Given> => {
	// An object per subscription, so that a function subscribed twice can be removed once.
	const subscriptions = new Set<{listener: Listener<Given>}>();
	let waiting: Given | null = null;

	const deliver = async ({listener}: {listener: Listener<Given>}, given: Given): Promise<void> => {
		try {
			await listener(...given);
		} catch (error) {
			warn(fault, error);
		}
	};

	const publish = (...given: Given): void => {
		waiting = subscriptions.size === 0 ? given : null;
		for (const subscription of [...subscriptions]) {
			deliver(subscription, given);
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
					publish(...waiting);
				}
			});
			return () => {
				subscriptions.delete(subscription);
			};
		},
	};
};

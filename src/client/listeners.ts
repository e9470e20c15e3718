/** A log that never throws, for functions that never do. */
export const guardedLog =
	(log: (message: string, error: unknown) => void) =>
	(message: string, error: unknown): void => {
		try {
			log(message, error);
		} catch {
			// The message is lost; the app continues.
		}
	};

/** Receives published values. May be async; its errors are logged and affect nobody else. */
export type Listener<Args extends unknown[]> = (...args: Args) => void | Promise<void>;

export type Listeners<Args extends unknown[]> = {
	/** @returns a function that ends the subscription. */
	subscribe(listener: Listener<Args>): () => void;
	publish(...args: Args): void;
};

/**
 * Passes published values to listeners. Without a listener a value waits for the first, so that none is lost at startup.
 * @param fault the message of a listener's error.
 */
export const createListeners = <Args extends unknown[]>(
	fault: string,
	warn: (message: string, error: unknown) => void,
): Listeners<Args> => {
	// An object per subscription, so that a function subscribed twice can be removed once.
	const subscriptions = new Set<{listener: Listener<Args>}>();
	let waiting: Args | null = null;

	const deliver = async ({listener}: {listener: Listener<Args>}, args: Args): Promise<void> => {
		try {
			await listener(...args);
		} catch (error) {
			warn(fault, error);
		}
	};

	const publish = (...args: Args): void => {
		waiting = subscriptions.size === 0 ? args : null;
		for (const subscription of [...subscriptions]) {
			deliver(subscription, args);
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

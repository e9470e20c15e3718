/** Runs work as soon as its turn comes. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** A queue that runs `atOnce` pieces of work at a time, in the order of the calls. */
export const createSemaphore = (atOnce = 1): Semaphore => {
	const waiting: Array<() => void> = [];
	let free = atOnce;
	return async (work) => {
		if (free === 0) {
			await new Promise<void>((resolve) => {
				waiting.push(resolve);
			});
		} else {
			free -= 1;
		}

		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next === undefined) {
				free += 1;
			} else {
				next();
			}
		}
	};
};

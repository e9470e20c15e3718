/**
 * Runs `work` for many callers: those that come while it runs share its next run, which begins after all of their calls.
 */
export const inSharedTurns = (work: () => Promise<void>): (() => Promise<void>) => {
	let running: Promise<void> | null = null;
	let next: Promise<void> | null = null;
	const take = (): Promise<void> => {
		if (running === null) {
			running = work().finally(() => {
				running = null;
			});
			return running;
		}

		const follow = () => {
			next = null;
			return take();
		};
		next ??= running.then(follow, follow);
		return next;
	};

	return take;
};

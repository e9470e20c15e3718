import type {Logger} from 'pino';

/** Runs work without delaying an answer. A stop waits for it. */
export type Background = {
	run(what: string, work: Promise<unknown>): void;
	/** Resolves when no work runs, that included which began meanwhile. */
	settle(): Promise<void>;
};

export const createBackground = (log: Logger): Background => {
	const running = new Set<Promise<void>>();
	return {
		run: (what, work) => {
			const tracked = work.then(
				() => {
					running.delete(tracked);
				},
				(error: unknown) => {
					running.delete(tracked);
					log.warn({err: error}, `could not ${what}`);
				},
			);
			running.add(tracked);
		},
		settle: async () => {
			// Work may begin while others end: a refund that one run claims is made by that run, and another returns without it.
			while (running.size > 0) {
				await Promise.all(running);
			}
		},
	};
};

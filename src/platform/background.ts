import type {Logger} from 'pino';

/** Runs work without delaying an answer. A stop waits for it, for a while. */
export type Background = {
	run(what: string, work: Promise<unknown>): void;
	/** Resolves when no work runs, that included which began meanwhile. */
	settle(): Promise<void>;
	/** The names of what runs now. */
	running(): string[];
};

export const createBackground = (log: Logger): Background => {
	const running = new Map<Promise<void>, string>();
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
			running.set(tracked, what);
		},
		settle: async () => {
			// Work may begin while others end: a refund that one run claims is made by that run, and another returns without it.
			while (running.size > 0) {
				await Promise.all(running.keys());
			}
		},
		running: () => [...new Set(running.values())],
	};
};

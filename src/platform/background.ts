import type {Logger} from 'pino';

/** Runs work without delaying an answer. A stop waits for it, for a while. */
export type Background = {
	/** @param name completes "could not …". */
	run(name: string, work: Promise<unknown>): void;
	/** Resolves when no work runs, including work that begins meanwhile. */
	settle(): Promise<void>;
	/** The names of running work. */
	running(): string[];
};

export const createBackground = (log: Logger): Background => {
	const running = new Map<Promise<void>, string>();
	return {
		run: (name, work) => {
			const tracked = work.then(
				() => {
					running.delete(tracked);
				},
				(error: unknown) => {
					running.delete(tracked);
					log.warn({err: error}, `could not ${name}`);
				},
			);
			running.set(tracked, name);
		},
		settle: async () => {
			// Work may begin while other work ends.
			while (running.size > 0) {
				await Promise.all(running.keys());
			}
		},
		running: () => [...new Set(running.values())],
	};
};

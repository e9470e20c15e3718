import type {Background} from './background.ts';
import {Loop} from './loop.ts';

/** Writes, a little later, what was noted in memory. @param name names the work in the log. */
export const createLateWrites = (background: Background, name: string, write: () => Promise<void>) => {
	// Runs in order, so awaiting the last one awaits all.
	let writing: Promise<void> = Promise.resolve();
	const settled = (): Promise<void> => {
		writing = writing.catch(() => {}).then(write);
		return writing;
	};

	const writes = new Loop(async () => {
		background.run(name, settled());
		return null;
	});
	return {
		/** Writes within that time. */
		wake: (milliseconds: number): void => writes.wake(milliseconds),
		/** Writes what was noted. */
		settled,
		/** Stops writing by itself; the caller settles. */
		close: (): void => void writes.stop(),
	};
};

/** A timer of more milliseconds than this fires at once, where one that never fires was meant. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Runs `then` after so many seconds. @returns what calls it off. */
export const after = (seconds: number, then: () => void): (() => void) => {
	const timer = setTimeout(then, Math.min(seconds * 1000, LONGEST_TIMER_MS));
	return () => clearTimeout(timer);
};

export const sleep = (seconds: number): Promise<void> =>
	new Promise((resolve) => {
		after(seconds, resolve);
	});

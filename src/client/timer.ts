/** The longest delay of a timer in milliseconds; with a longer one it fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Runs `then` after a number of seconds. @returns a function that cancels it. */
export const after = (seconds: number, then: () => void): (() => void) => {
	const timer = setTimeout(then, Math.min(seconds * 1000, MAX_TIMER_MS));
	return () => clearTimeout(timer);
};

export const sleep = (seconds: number): Promise<void> =>
	new Promise((resolve) => {
		after(seconds, resolve);
	});

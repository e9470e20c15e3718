import test from 'ava';

const MAX_COUNT = 20;

/**
 * AVA starts all concurrent tests of a process at once. Those of several files are so many that their requests would run
 * into time limits, so each waits for its turn.
 */
export const limitTestsAtOnce = (): void => {
	let free = MAX_COUNT;
	const waiting: Array<() => void> = [];
	test.beforeEach(async () => {
		if (free === 0) {
			await new Promise<void>((resolve) => waiting.push(resolve));
		} else {
			free -= 1;
		}
	});
	test.afterEach.always(() => {
		const next = waiting.shift();
		if (next === undefined) {
			free += 1;
		} else {
			next();
		}
	});
};

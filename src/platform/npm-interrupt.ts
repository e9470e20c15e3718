/** npm and npx pass a Ctrl-C on that the terminal has sent to their program, too: one key, two signals. */
const SAME_KEY_MS = 1000;

/** Begins with a signal. @returns whether a later one is another key, and not the first one passed on. */
export const createKeyWatch = (): (() => boolean) => {
	const first = performance.now();
	return () => performance.now() - first > SAME_KEY_MS;
};

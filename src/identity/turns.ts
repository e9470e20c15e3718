/** A queue that runs one piece of work at a time. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export const createTurns = (): Turns => {
	let last: Promise<unknown> = Promise.resolve();
	return (work) => {
		const turn = last.then(work);
		// The caller handles the failure; the next one still runs.
		last = turn.catch(() => {});
		return turn;
	};
};

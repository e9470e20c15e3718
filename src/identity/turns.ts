/** Runs one piece of work at a time, in the order of the calls. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export const createTurns = (): Turns => {
	let last: Promise<unknown> = Promise.resolve();
	return (work) => {
		const turn = last.then(work);
		// A piece of work that fails is its caller's to handle, and does not keep the next one from its turn.
		last = turn.catch(() => {});
		return turn;
	};
};

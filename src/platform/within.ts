/** The result of the work. @throws the work's error; `late()` when the time is over first. */
export const inTime = <T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> => {
	let timer: NodeJS.Timeout | undefined;
	const bound = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(late()), milliseconds);
	});
	return Promise.race([work, bound]).finally(() => clearTimeout(timer));
};

/** Resolves when the work is done or the time is over. @throws the work's error if it fails in that time. */
export const within = async (milliseconds: number, work: Promise<unknown>): Promise<void> => {
	const over = new Error('the time is over');
	await inTime(milliseconds, work, () => over).catch((error: unknown) => {
		if (error !== over) {
			throw error;
		}
	});
};

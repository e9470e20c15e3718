/** Resolves when the work is done or the time is over. @throws the work's error if it fails in that time. */
export const within = (milliseconds: number, work: Promise<unknown>): Promise<unknown> => {
	let timer: NodeJS.Timeout | undefined;
	const bound = new Promise((resolve) => {
		timer = setTimeout(resolve, milliseconds);
	});
	return Promise.race([work, bound]).finally(() => clearTimeout(timer));
};

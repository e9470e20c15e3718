const MAX_ROWS = 1000;

/** Repeats a write of at most `limit` rows until it finds fewer. @returns the number of rows. */
export const repeatBatches = async (write: (limit: number) => Promise<number>): Promise<number> => {
	let total = 0;
	for (;;) {
		const count = await write(MAX_ROWS);
		total += count;
		if (count < MAX_ROWS) {
			return total;
		}
	}
};

/**
 * A value that was read while something changed may be of before or after it: it is answered, which is as good as
 * having asked a little earlier, but not kept.
 */
export const keepUnlessChanged = async <T>(
	read: () => Promise<T>,
	version: () => number,
	keep: (value: T) => void,
): Promise<T> => {
	const before = version();
	const value = await read();
	if (version() === before) {
		keep(value);
	}

	return value;
};

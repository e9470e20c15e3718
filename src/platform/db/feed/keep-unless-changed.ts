/** If something changed during the read, the value may be stale: return it, but do not cache it. */
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

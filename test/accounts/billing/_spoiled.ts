/** The JSON of a value, once for each text in it, with a null character in that text. */
export const spoiled = (value: unknown): string[] => {
	const text = JSON.stringify(value);
	// The text of a value; those of keys have a colon behind them.
	return [...text.matchAll(/(?<=[:,[]"(?:[^"\\]|\\.)*)"(?=[,}\]])/g)].map(
		({index}) => `${text.slice(0, index)}\\u0000${text.slice(index)}`,
	);
};

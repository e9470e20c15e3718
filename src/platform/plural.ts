/** A number of things, in plain words: `1 link`, `1,200 links`. @param word takes an s as a plural. */
export const counted = (count: number, word: string): string =>
	`${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

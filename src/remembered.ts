/**
 * A pure function of a text that remembers its answers, for texts of which nearly all are the same few. It forgets all
 * when there are `most`, so that whoever sends ever new ones fills no memory.
 */
export const remembered = <Answer extends object | string | boolean | null>(
	answer: (text: string) => Answer,
	most = 1000,
): ((text: string) => Answer) => {
	const known = new Map<string, Answer>();
	return (text) => {
		const found = known.get(text);
		if (found !== undefined) {
			return found;
		}

		const made = answer(text);
		if (known.size >= most) {
			known.clear();
		}

		known.set(text, made);
		return made;
	};
};

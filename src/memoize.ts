/**
 * Memoizes a pure function of a text with few distinct inputs. All entries are dropped when there are `most`, to bound
 * the memory.
 */
export const memoize = <Answer extends object | string | boolean | null>(
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

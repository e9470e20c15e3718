/** Memoizes a pure function of a text. Forgets the input that it has known longest when there are more than `max`. */
export const memoize = <Answer>(answer: (text: string) => Answer, max = 1000): ((text: string) => Answer) => {
	// Not an LRU cache: moving an entry at each use takes longer than making a rare one again.
	const known = new Map<string, {answer: Answer}>();
	return (text) => {
		let found = known.get(text);
		if (found === undefined) {
			found = {answer: answer(text)};
			if (known.size >= max) {
				known.delete(known.keys().next().value ?? '');
			}

			known.set(text, found);
		}

		return found.answer;
	};
};

import {LRUCache} from 'lru-cache';

/** Memoizes a pure function of a text with few distinct inputs. The `most` inputs used last are kept. */
export const memoize = <Answer>(answer: (text: string) => Answer, most = 1000): ((text: string) => Answer) => {
	const known = new LRUCache<string, {answer: Answer}>({max: most});
	return (text) => {
		let found = known.get(text);
		if (found === undefined) {
			found = {answer: answer(text)};
			known.set(text, found);
		}

		return found.answer;
	};
};

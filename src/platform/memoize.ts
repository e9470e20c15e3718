import {LRUCache} from 'lru-cache';

/** Memoizes a pure function of a text. Keeps the `max` most recently used inputs. */
export const memoize = <Answer>(answer: (text: string) => Answer, max = 1000): ((text: string) => Answer) => {
	const known = new LRUCache<string, {answer: Answer}>({max});
	return (text) => {
		let found = known.get(text);
		if (found === undefined) {
			found = {answer: answer(text)};
			known.set(text, found);
		}

		return found.answer;
	};
};

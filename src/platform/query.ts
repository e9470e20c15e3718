/** Parameters of a query, by name; a repeated one has a list. */
export type Query = Record<string, string | string[]>;

/** Maximum parameters that are read of a query; further ones are ignored. No route has a tenth as many. */
const MAX_PARAMETERS = 1000;

/** The text after the `?` of a request's URL. */
const queryText = (url: string): string => {
	const start = url.indexOf('?');
	return start === -1 ? '' : url.slice(start + 1);
};

/**
 * The parameters of a request's URL, read in one pass as `application/x-www-form-urlencoded`. `__proto__` is left out:
 * it would set the object's prototype.
 */
export const readQuery = (url = ''): Query => {
	const text = queryText(url);
	if (text === '') {
		return {};
	}

	const found = new Map<string, string | string[]>();
	let count = 0;
	for (const [name, value] of new URLSearchParams(text)) {
		count += 1;
		if (count > MAX_PARAMETERS) {
			break;
		}

		const known = found.get(name);
		if (known === undefined) {
			found.set(name, value);
		} else if (typeof known === 'string') {
			found.set(name, [known, value]);
		} else {
			known.push(value);
		}
	}

	found.delete('__proto__');
	return Object.fromEntries(found);
};

/** A percent-encoded text that another party sent; null if a % encodes no character. */
export const decodedText = (text: string): string | null => {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
};

/** Parameters of a query, by name; a repeated one has a list. */
export type Query = Record<string, string | string[]>;

/** Maximum parameters that are read of a query; further ones are ignored. No route has a tenth as many. */
const MAX_PARAMETERS = 1000;

/** The text after the `?` of a request's URL. */
const queryText = (url: string): string => {
	const start = url.indexOf('?');
	return start === -1 ? '' : url.slice(start + 1);
};

/** The pairs of a query. Click ids have nothing to decode, and splitting a text takes a third of the time. */
const pairsOf = (text: string): Iterable<readonly [name: string, value: string]> =>
	/^\?|[%+]/.test(text)
		? new URLSearchParams(text)
		: text
				.split('&')
				.filter((pair) => pair !== '')
				.map((pair) => {
					const end = pair.indexOf('=');
					return end === -1 ? ([pair, ''] as const) : ([pair.slice(0, end), pair.slice(end + 1)] as const);
				});

/**
 * The parameters of a request's URL, read in one pass as `application/x-www-form-urlencoded`. `__proto__` is left out:
 * it would set the object's prototype.
 */
export const readQuery = (url = ''): Query => {
	const found: Query = {};
	let count = 0;
	for (const [name, value] of pairsOf(queryText(url))) {
		count += 1;
		if (count > MAX_PARAMETERS) {
			break;
		}

		const known = Object.hasOwn(found, name) ? found[name] : undefined;
		if (known === undefined) {
			if (name !== '__proto__') {
				found[name] = value;
			}
		} else if (typeof known === 'string') {
			found[name] = [known, value];
		} else {
			known.push(value);
		}
	}

	return found;
};

/** The first value of a parameter; an empty text if there is none. */
export const firstValue = (values: Query[string] | undefined): string =>
	(typeof values === 'string' ? values : values?.[0]) ?? '';

/** A percent-encoded text that another party sent; null if a % encodes no character. */
export const decodedText = (text: string): string | null => {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
};

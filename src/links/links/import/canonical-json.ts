export const isObject = (value: unknown): value is Record<string, unknown> =>
	value !== null && typeof value === 'object' && !Array.isArray(value);

/** A create body as JSON with sorted keys and without null values: equivalent bodies have the same text. */
export const canonicalJson = (body: object): string =>
	JSON.stringify(body, (_key, value: unknown) =>
		isObject(value)
			? Object.fromEntries(
					Object.entries(value)
						.filter(([, item]) => item !== null)
						.sort(([a], [b]) => (a < b ? -1 : 1)),
				)
			: value,
	);

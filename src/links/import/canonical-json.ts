const isObject = (value: unknown): value is Record<string, unknown> =>
	value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * What a create body says, as JSON: the keys of its objects in order and without null ones, which say nothing, so that
 * what means the same is written the same.
 */
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

/** The values of a pattern's `:names` in a path, or null where they differ. */
export const matchPath = (pattern: string, path: string): Record<string, string> | null => {
	const expected = pattern.split('/');
	const given = path.split('/');
	if (expected.length !== given.length) {
		return null;
	}

	const params: Record<string, string> = {};
	for (const [index, segment] of expected.entries()) {
		const value = given[index] ?? '';
		if (segment.startsWith(':') && value !== '') {
			params[segment.slice(1)] = decodeURIComponent(value);
		} else if (segment !== value) {
			return null;
		}
	}

	return params;
};

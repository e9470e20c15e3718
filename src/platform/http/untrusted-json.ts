/** The value of a text that another party sent as JSON; undefined if it is not JSON. */
export const parseJson = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

/** The fields of a value that another party sent as an object; empty for any other value. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** The lines of an export, each a JSON document. */
export const linesOf = (text: string): Array<Record<string, unknown>> =>
	text
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));

/**
 * A row of an import file: `line` is where it begins (from 1; in a JSON array the number of the element), `raw` its own
 * text, with which the file of failed rows is written, and `header` what has to stand above it there. A row that cannot
 * be read has an `error` in place of its `row`.
 */
export type ImportRow = {line: number; raw: string; header?: string} & (
	| {row: Record<string, unknown>; error?: never}
	| {row?: never; error: string}
);

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The row that a piece of JSON is. */
export const jsonRow = (line: number, raw: string): ImportRow => {
	try {
		const row: unknown = JSON.parse(raw);
		return isObject(row) ? {line, raw, row} : {line, raw, error: 'is no JSON object'};
	} catch (error) {
		return {line, raw, error: `is no JSON: ${error instanceof Error ? error.message : String(error)}`};
	}
};

/** How the file of failed rows is put together, so that it can be imported again. */
export type Wrapping = {open: string; between: string; close: string};

/** Rows one below the other, with nothing around them. */
export const plainLines: Wrapping = {open: '', between: '\n', close: '\n'};

/** Where a row stands: the line where it begins, from 1, and in a JSON array the number of the element, from 1. */
export type Place = {line: number; item?: number};

/** What a row of another service says of apps: each must be one of the organization's own. */
export type AppClaims = {bundleIds: string[]; appStoreIds: string[]; packageNames: string[]; schemes: string[]};

/** What a row of another service says that is not a field of a link. */
export type ForeignFacts = {
	/** Host of the short URL that it had, with its port; null where the row names none. */
	host: string | null;
	apps: AppClaims;
	/** Names of what the row has and a link here has no place for. */
	left: string[];
};

/**
 * A row of an import file. `raw` is its own text, with which the file of failed rows is written. A row that cannot be
 * imported has an `error` in place of its `row`; `hint` is what the operator can do about all such rows.
 */
export type ImportRow = Place & {raw: string; wrapping: Wrapping; foreign?: ForeignFacts} & (
		| {row: Record<string, unknown>; error?: never}
		| {row?: never; error: string; hint?: string}
	);

/** Far more than a create body may have: a longer row is refused here, by its line, and the rest comes in. */
const MAX_ROW_BYTES = 2 ** 20;

/** Longest row that is read at all: a quote or a bracket that is never closed must not fill the memory. */
export const MOST_READ_BYTES = 2 ** 26;

/** Why a row is too long to be sent; null for one that is not. */
export const lengthFault = (raw: string): string | null =>
	raw.length > MAX_ROW_BYTES || Buffer.byteLength(raw) > MAX_ROW_BYTES ? `is longer than ${MAX_ROW_BYTES} bytes` : null;

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The row that a piece of JSON is. */
export const jsonRow = (place: Place, raw: string, wrapping: Wrapping): ImportRow => {
	const tooLong = lengthFault(raw);
	if (tooLong !== null) {
		return {...place, raw, wrapping, error: tooLong};
	}

	try {
		const row: unknown = JSON.parse(raw);
		return isObject(row) ? {...place, raw, wrapping, row} : {...place, raw, wrapping, error: 'is not a JSON object'};
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		return {...place, raw, wrapping, error: `is not valid JSON: ${reason}`};
	}
};

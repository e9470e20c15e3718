import {isObject} from '../../../links/links/import/canonical-json.ts';
import {hasInfinity, isTooDeep} from '../../../platform/http/storable.ts';
import {jsonFault} from '../../json-fault.ts';

/** How to join failed rows into a file that can be imported again. */
export type RowFraming = {open: string; between: string; close: string};

/** Rows on separate lines, without framing. */
export const plainLines: RowFraming = {open: '', between: '\n', close: '\n'};

/** The place of a row: its first line, from 1, and in a JSON array the element's number, from 1. */
export type Place = {line: number; item?: number};

/** The apps that a foreign row names; each must be one of the organization's. */
export type AppClaims = {bundleIds: string[]; appStoreIds: string[]; packageNames: string[]; schemes: string[]};

/** Data of a foreign row that is not a link field. */
export type ForeignFacts = {
	/** Host of its previous short URL, with its port; null if the row has none. */
	host: string | null;
	/** The path before the code in that URL, such as `promos`; a setting of a domain. */
	prefix?: string | null;
	apps: AppClaims;
	/** Names of fields without a counterpart in a link. */
	left: string[];
};

/**
 * A row of an import file. `raw` is its source text, for the file of failed rows. A row that cannot be imported has an
 * `error` instead of a `row`; `hint` is the next step for all such rows.
 */
export type ImportRow = Place & {raw: string; wrapping: RowFraming; foreign?: ForeignFacts} & (
		| {row: Record<string, unknown>; error?: never}
		| {row?: never; error: string; hint?: string}
	);

/** Far more than any create body: a longer row is rejected here by its line, and the rest is imported. */
const MAX_ROW_BYTES = 2 ** 20;

/** Longest row that is read at all: an unclosed quote or bracket must not fill the memory. */
export const MAX_READ_BYTES = 2 ** 26;

/** Why a row is too long to be sent; null if it is not. */
export const lengthFault = (raw: string): string | null =>
	raw.length > MAX_ROW_BYTES || Buffer.byteLength(raw) > MAX_ROW_BYTES ? `is longer than ${MAX_ROW_BYTES} bytes` : null;

/** Sets a field of a body; `og.title` is a field of an object in it. */
export const putField = (body: Record<string, unknown>, field: string, value: unknown): void => {
	const [object = '', ...rest] = field.split('.');
	body[object] = rest.length === 0 ? value : {...(body[object] as object | undefined), [rest.join('.')]: value};
};

/** The row in a piece of JSON. */
export const jsonRow = (place: Place, raw: string, wrapping: RowFraming): ImportRow => {
	const tooLong = lengthFault(raw);
	if (tooLong !== null) {
		return {...place, raw, wrapping, error: tooLong};
	}

	try {
		const row: unknown = JSON.parse(raw);
		// Writing it would exhaust the stack; the server refuses fewer levels.
		if (isTooDeep(row)) {
			return {...place, raw, wrapping, error: 'is nested too deep'};
		}

		if (hasInfinity(row)) {
			return {...place, raw, wrapping, error: 'has a number that is too large'};
		}

		return isObject(row) ? {...place, raw, wrapping, row} : {...place, raw, wrapping, error: 'is not a JSON object'};
	} catch (error) {
		const {line, reason} = jsonFault(raw, error);
		const where = line === 0 ? '' : ` in line ${place.line + line}`;
		return {...place, raw, wrapping, error: `is not valid JSON${where}: ${reason}`};
	}
};

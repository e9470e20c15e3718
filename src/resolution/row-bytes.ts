import type {LinkRow} from './link-row.ts';

/**
 * Bytes of V8's heap, of 64 bits without compressed pointers, as test/resolution/link-memory.ts measures them. What is not
 * known is taken as the most: an estimate that is too low would be a memory that has no bound.
 */
const WORD = 8;
const STRING_HEADER = 16;
const OBJECT_HEADER = 24;
const ARRAY_HEADER = 32;
const DATE = 96;
/** What a property of an object with keys of its own takes beside key and value: its shape, which no other object has. */
const OWN_SHAPE = 120;
/** The row's own fields and shape, the body of `/data` and what holds it. */
const ROW = 600;

const isOneByte = (text: string): boolean => {
	for (let index = 0; index < text.length; index += 1) {
		if (text.charCodeAt(index) > 0xff) {
			return false;
		}
	}

	return true;
};

const charBytes = (text: string): number => text.length * (isOneByte(text) ? 1 : 2);

export const textBytes = (text: string): number => STRING_HEADER + Math.ceil(charBytes(text) / WORD) * WORD;

/** An object whose keys are those of its kind. */
const recordBytes = (record: object): number =>
	Object.values(record).reduce<number>(
		(sum, value) => sum + WORD + (typeof value === 'string' ? textBytes(value) : value instanceof Date ? DATE : 0),
		OBJECT_HEADER,
	);

/** An object whose keys are anybody's. */
const paramsBytes = (params: Record<string, string> | null): number =>
	Object.entries(params ?? {}).reduce(
		(sum, [key, value]) => sum + OWN_SHAPE + WORD + textBytes(key) + textBytes(value),
		OBJECT_HEADER,
	);

/** The bytes of UTF-8, or of JSON with its escapes, that a text becomes in the body of `/data`: three of a character at most. */
const bodyBytes = ({path, params, template_params}: LinkRow): number =>
	[path ?? '', ...Object.entries({...template_params, ...params}).flat()].reduce(
		(sum, text) => sum + WORD + (isOneByte(text) ? text.length : 3 * text.length),
		0,
	);

/** What a link takes in memory, with the body of its `/data`. */
export const rowBytes = (row: LinkRow): number =>
	ROW +
	recordBytes(row) +
	paramsBytes(row.params) +
	paramsBytes(row.template_params) +
	(row.ios === null ? 0 : recordBytes(row.ios)) +
	(row.android ?? []).reduce((sum, app) => sum + WORD + recordBytes(app), ARRAY_HEADER) +
	bodyBytes(row);

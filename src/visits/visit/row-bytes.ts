import {platformFields} from '../../links/links/link-fields.ts';
import type {ResolvedRow} from './resolved-row.ts';

/**
 * Bytes of V8's heap, in 64 bits without pointer compression, as test/visits/resolution/link-memory.ts measures them. Unknown
 * parts are overestimated: an estimate that is too low would leave the memory unbounded.
 */
const WORD = 8;
const STRING_HEADER = 16;
const OBJECT_HEADER = 24;
const ARRAY_HEADER = 32;
const DATE = 96;
/** Cost of a property in an object with arbitrary keys beside key and value: a hidden class of its own. */
const OWN_SHAPE = 120;
/** The row's own fields and hidden class. */
const ROW = 600;

const isOneByte = (text: string): boolean => !/[\u0100-\uffff]/.test(text);

const textBytes = (text: string): number =>
	STRING_HEADER + Math.ceil((text.length * (isOneByte(text) ? 1 : 2)) / WORD) * WORD;

/** An object with the fixed keys of its type; @param ofKey for one with arbitrary keys, what each costs beside its word. */
const recordBytes = (record: object, ofKey = (_: string) => 0): number =>
	Object.entries(record).reduce(
		(sum, [key, value]) =>
			sum + WORD + ofKey(key) + (typeof value === 'string' ? textBytes(value) : value instanceof Date ? DATE : 0),
		OBJECT_HEADER,
	);

const paramsBytes = (params: Record<string, string> | null): number =>
	recordBytes(params ?? {}, (key) => OWN_SHAPE + textBytes(key));

/** Estimated memory of a link. */
export const rowBytes = (row: ResolvedRow): number =>
	ROW +
	recordBytes(row) +
	paramsBytes(row.params) +
	paramsBytes(row.template_params) +
	[row.ios, ...platformFields.map(({column}) => row[column])].reduce(
		(sum, part) => sum + (part ? recordBytes(part) : 0),
		0,
	) +
	(row.android ?? []).reduce((sum, app) => sum + WORD + recordBytes(app), ARRAY_HEADER);

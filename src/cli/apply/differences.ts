import {isDeepStrictEqual} from 'node:util';
import {isObject} from '../../links/links/import/canonical-json.ts';
import type {Row} from './kinds.ts';

/** A field that a change sets: its dotted name, and its values, null for none. */
export type FieldChange = {field: string; from: unknown; to: unknown};

/** Lists whose order and repetitions mean nothing. */
const SETS = new Set(['tags', 'events', 'channels', 'sha256Fingerprints', 'pathPrefixes', 'browserPaths']);

/** A value as it is compared: times as texts, sets in order, objects without what is unset. */
const canonical = (name: string, value: unknown): unknown => {
	if (Array.isArray(value)) {
		const items = value.map((item) => canonical('', item));
		return SETS.has(name) ? [...new Set(items)].sort() : items;
	}

	return value instanceof Date ? value.toISOString() : isObject(value) ? stated(value, {}) : value;
};

/** What a row says, without what is unset or in force anyway. */
export const stated = (row: Row, defaults: Row): Row =>
	Object.fromEntries(
		Object.entries(row).flatMap(([name, value]) => {
			const own = canonical(name, value);
			const isEmpty = own == null || (isObject(own) && Object.keys(own).length === 0);
			return isEmpty || isDeepStrictEqual(own, defaults[name]) ? [] : [[name, own]];
		}),
	);

/** The values of a row by their dotted names. */
const leaves = (row: Row, prefix = ''): Array<[string, unknown]> =>
	Object.entries(row).flatMap(
		([name, value]): Array<[string, unknown]> =>
			isObject(value) ? leaves(value, `${prefix}${name}.`) : [[prefix + name, value]],
	);

/** The fields in which two rows differ, with their values in force by the defaults of each. */
export const differences = (before: [row: Row, defaults: Row], after: [row: Row, defaults: Row]): FieldChange[] => {
	const [from, to] = [new Map(leaves(stated(...before))), new Map(leaves(stated(...after)))];
	return [...new Set([...to.keys(), ...from.keys()])]
		.filter((field) => !isDeepStrictEqual(from.get(field), to.get(field)))
		.map((field) => ({
			field,
			from: from.get(field) ?? before[1][field] ?? null,
			to: to.get(field) ?? after[1][field] ?? null,
		}));
};

import {isDeepStrictEqual} from 'node:util';
import {isObject} from '../../links/links/import/canonical-json.ts';

/** A field that a change sets: its dotted name, and its values, null for none. */
export type FieldChange = {field: string; from: unknown; to: unknown};

/** Lists whose order and repetitions mean nothing. */
const SETS = new Set(['tags', 'events', 'channels', 'sha256Fingerprints', 'pathPrefixes', 'browserPaths']);

/** A value as it is compared: times as texts, sets in order, objects without unset fields; undefined for an unset value. */
export const canonical = (name: string, value: unknown): unknown => {
	if (Array.isArray(value)) {
		const items = value.map((item) => canonical('', item));
		return SETS.has(name) ? [...new Set(items)].sort() : items;
	}

	if (value instanceof Date || !isObject(value)) {
		return value instanceof Date ? value.toISOString() : (value ?? undefined);
	}

	const parts = Object.entries(value).map(([part, own]) => [part, canonical(part, own)]);
	const stated = parts.filter(([, own]) => own !== undefined);
	return stated.length === 0 ? undefined : Object.fromEntries(stated);
};

/** The values in a value by their dotted names. */
const leaves = (name: string, value: unknown): Array<[string, unknown]> =>
	isObject(value)
		? Object.entries(value).flatMap(([part, own]) => leaves(`${name}.${part}`, own))
		: [[name, value ?? null]];

/** The parts of a field in which two values differ. */
export const differences = (field: string, before: unknown, after: unknown): FieldChange[] => {
	const from = new Map(leaves(field, canonical(field, before)));
	const to = new Map(leaves(field, canonical(field, after)));
	return [...new Set([...to.keys(), ...from.keys()])]
		.map((name) => ({field: name, from: from.get(name) ?? null, to: to.get(name) ?? null}))
		.filter((change) => !isDeepStrictEqual(change.from, change.to));
};

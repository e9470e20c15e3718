import type {FieldFault} from '../errors.ts';

/** Deeper than any valid body; without a bound a small body could be deep enough to exhaust the stack. */
const MAX_DEPTH = 64;

/** Whether a JSON value is too deep, so that walking or writing it could exhaust the stack. */
export const isTooDeep = (value: unknown, levels = MAX_DEPTH): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((item) => isTooDeep(item, levels - 1)));

const stringFault = (text: string, name: string): string | null => {
	if (text.includes('\0')) {
		return `${name} must not contain a null character`;
	}

	return text.isWellFormed() ? null : `${name} must be well-formed Unicode`;
};

/**
 * The first fault, at any depth, that prevents storing the value: a string (key or value) with a null character, which
 * PostgreSQL refuses in text, or with half a surrogate pair, which it refuses in jsonb; the key `__proto__`, which
 * would set an object's prototype and vanish; too many levels.
 */
export const unstorable = (value: unknown, path: string[] = []): FieldFault[] => {
	const field = path.join('.');
	const fault = (message: string | null): FieldFault[] =>
		message === null ? [] : [path.length === 0 ? {message} : {message, field}];
	const name = path.length === 0 ? 'body' : field;
	if (typeof value === 'string') {
		return fault(stringFault(value, name));
	}

	if (value === null || typeof value !== 'object') {
		return [];
	}

	if (path.length >= MAX_DEPTH) {
		return [{message: `${path[0]} must not be nested deeper than ${MAX_DEPTH} levels`, field: path[0] ?? ''}];
	}

	for (const [key, item] of Object.entries(value)) {
		const inner = [...path, key];
		const faults =
			key === '__proto__'
				? [{message: `${inner.join('.')} is not allowed`, field: inner.join('.')}]
				: [...fault(stringFault(key, name)), ...unstorable(item, inner)];
		if (faults.length > 0) {
			return faults.slice(0, 1);
		}
	}

	return [];
};

/** Whether `unstorable` finds no fault; faster, because it keeps no path. */
export const isStorable = (value: unknown, levels = MAX_DEPTH): boolean => {
	if (typeof value === 'string') {
		return !value.includes('\0') && value.isWellFormed();
	}

	if (value === null || typeof value !== 'object') {
		return true;
	}

	if (levels === 0) {
		return false;
	}

	if (Array.isArray(value)) {
		return value.every((item) => isStorable(item, levels - 1));
	}

	return Object.keys(value).every(
		(key) => key !== '__proto__' && isStorable(key) && isStorable((value as Record<string, unknown>)[key], levels - 1),
	);
};

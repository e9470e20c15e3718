import type {FieldFault} from '../errors.ts';

/** Deeper than any valid body; without a bound a small body could be deep enough to exhaust the stack. */
const MAX_DEPTH = 64;

/** Whether a JSON value is too deep: walking or writing it could exhaust the stack. */
export const isTooDeep = (value: unknown, levels = MAX_DEPTH): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((item) => isTooDeep(item, levels - 1)));

/** Whether a JSON value has a number that JavaScript reads as infinite. Writing it as JSON would make it null. */
export const hasInfinity = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.values(value).some(hasInfinity)
		: value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;

/** A fault within a value, and its place. */
type Fault = {path: string[]; rule: string};

const TOO_LARGE = 'must be a number between -1.7976931348623157e308 and 1.7976931348623157e308';
const TOO_DEEP = `must not be nested deeper than ${MAX_DEPTH} levels`;

const ruleOf = (text: string): string | null => {
	if (text.includes('\0')) {
		return 'must not contain a null character';
	}

	return text.isWellFormed() ? null : 'must be well-formed Unicode';
};

/** Makes the path only for a fault, because nearly all values have none. */
const firstFault = (value: unknown, levels = MAX_DEPTH): Fault | null => {
	if (typeof value === 'string') {
		const rule = ruleOf(value);
		return rule === null ? null : {path: [], rule};
	}

	if (value === null || typeof value !== 'object') {
		return hasInfinity(value) ? {path: [], rule: TOO_LARGE} : null;
	}

	if (levels === 0) {
		return {path: [], rule: TOO_DEEP};
	}

	for (const key of Object.keys(value)) {
		if (key === '__proto__') {
			return {path: [key], rule: 'is not allowed'};
		}

		const rule = ruleOf(key);
		if (rule !== null) {
			return {path: [], rule};
		}

		const fault = firstFault((value as Record<string, unknown>)[key], levels - 1);
		if (fault !== null) {
			return {...fault, path: [key, ...fault.path]};
		}
	}

	return null;
};

/**
 * The first fault, at any depth, that prevents storing the value: a string (key or value) with a null character, which
 * PostgreSQL refuses in text, or with half a surrogate pair, which it refuses in jsonb; the key `__proto__`, which
 * would set an object's prototype and vanish; an infinite number, which would become null; too many levels.
 */
export const unstorable = (value: unknown): FieldFault[] => {
	const fault = firstFault(value);
	if (fault === null) {
		return [];
	}

	const {path, rule} = fault;
	const field = (rule === TOO_DEEP ? path.slice(0, 1) : path).join('.');
	return path.length === 0 ? [{message: `body ${rule}`}] : [{message: `${field} ${rule}`, field}];
};

/** Whether `unstorable` finds no fault. */
export const isStorable = (value: unknown): boolean => firstFault(value) === null;

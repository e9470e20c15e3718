import {notJson, wrongFields} from './paymob-errors.ts';

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object. @throws 400 for anything else. */
export const readFields = (body: unknown, contentType: unknown): Fields => {
	if (typeof body !== 'string' || !String(contentType).startsWith('application/json')) {
		throw notJson();
	}

	try {
		const parsed: unknown = JSON.parse(body);
		if (isFields(parsed)) {
			return parsed;
		}
	} catch {
		// Answered below, like everything that is no object.
	}

	throw notJson();
};

const REQUIRED = ['This field is required.'];

/** Text of at most `limit` characters, null where it is missing and may be. Faults are noted by name. */
export const textIn = (
	fields: Fields,
	name: string,
	faults: Fields,
	{required = false, limit = 2000}: {required?: boolean; limit?: number} = {},
): string | null => {
	const value = fields[name] ?? null;
	if (value === null) {
		if (required) {
			faults[name] = REQUIRED;
		}

		return null;
	}

	if (typeof value !== 'string' || (required && value === '')) {
		faults[name] = [value === '' ? 'This field may not be blank.' : 'Not a valid string.'];
		return null;
	}

	if (value.length > limit) {
		faults[name] = [`Ensure this field has no more than ${limit} characters.`];
	}

	return value;
};

/** A whole number from `min` to `max`, 0 where there is a fault. */
export const integerIn = (fields: Fields, name: string, faults: Fields, [min, max]: [number, number]): number => {
	const value = fields[name];
	if (value === undefined || value === null) {
		faults[name] = REQUIRED;
	} else if (typeof value !== 'number' || !Number.isInteger(value)) {
		faults[name] = ['A valid integer is required.'];
	} else if (value < min || value > max) {
		faults[name] = [`Ensure this value is from ${min} to ${max}.`];
	} else {
		return value;
	}

	return 0;
};

/** @throws 400 where anything was noted. */
export const refuseFaults = (faults: Fields): void => {
	if (Object.keys(faults).length > 0) {
		throw wrongFields(faults);
	}
};

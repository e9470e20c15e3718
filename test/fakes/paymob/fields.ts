import Joi from 'joi';
import {notJson, wrongFields} from './paymob-errors.ts';

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object. @throws 400 for anything else. */
export const readFields = (body: unknown, contentType: unknown): Fields => {
	try {
		const parsed: unknown = String(contentType).startsWith('application/json') && JSON.parse(String(body));
		if (isFields(parsed)) {
			return parsed;
		}
	} catch {
		// Answered below, like everything that is no object.
	}

	throw notJson();
};

const messages = {
	'any.required': 'This field is required.',
	'object.base': 'This field is required.',
	'string.base': 'Not a valid string.',
	'string.empty': 'This field may not be blank.',
	'string.max': 'Ensure this field has no more than {#limit} characters.',
	'number.base': 'A valid integer is required.',
	'number.integer': 'A valid integer is required.',
};

/** Text that has to be there, of at most `limit` characters. */
export const requiredText = (limit = 2000) => Joi.string().empty(null).max(limit).required();

/** Text, null where it is missing. */
export const text = Joi.string().allow('').empty(null).max(2000).default(null);

export const integer = (min: number, max: number) => {
	const message = `Ensure this value is from ${min} to ${max}.`;
	return Joi.number().integer().min(min).max(max).messages({'number.min': message, 'number.max': message});
};

export const requiredInteger = (min: number, max: number) => integer(min, max).empty(null).required();

/** The fields as the schema knows them. @throws 400 with what is wrong, by field. */
export const check = <T>(schema: Joi.ObjectSchema<T>, body: Fields): T => {
	const {value, error} = schema.validate(body, {abortEarly: false, convert: false, allowUnknown: true, messages});
	if (error === undefined) {
		return value;
	}

	const faults: Record<string, unknown> = {};
	for (const {path, message} of error.details) {
		const [field = '', inner] = path.filter((name) => typeof name === 'string');
		const others = isFields(faults[field]) ? faults[field] : {};
		faults[field] = inner === undefined ? [message] : {...others, [inner]: [message]};
	}

	throw wrongFields(faults);
};

import Joi from 'joi';
import {type FieldFault, validationFailed} from '../errors.ts';

/** Wording of interface 7.2: `<field> must be longer than or equal to N characters`, field names without quotes. */
const messages: Record<string, string> = {
	'any.required': '{{#label}} is required',
	'any.unknown': '{{#label}} is not allowed',
	'object.unknown': '{{#label}} is not allowed',
	'string.empty': '{{#label}} must be longer than or equal to 1 characters',
	'string.min': '{{#label}} must be longer than or equal to {{#limit}} characters',
	'string.max': '{{#label}} must be shorter than or equal to {{#limit}} characters',
	'array.max': '{{#label}} must contain at most {{#limit}} items',
	'array.min': '{{#label}} must contain at least {{#limit}} items',
	'string.guid': '{{#label}} must be a UUID',
	'number.min': '{{#label}} must be greater than or equal to {{#limit}}',
	'number.max': '{{#label}} must be less than or equal to {{#limit}}',
};

const options: Joi.ValidationOptions = {
	abortEarly: false,
	messages,
	errors: {wrap: {label: false}, label: 'path'},
};

/** Body values are not coerced, query and path values are read as what they mean (decisions 3). */
const bodyOptions: Joi.ValidationOptions = {...options, convert: false};

/** A `params` or `query` part keeps unknown keys out of the way: callers may add what they like to a URL. */
const urlOptions: Joi.ValidationOptions = {...options, convert: true, stripUnknown: true};

/**
 * The fault of the first string (key or value, however deep) that no database can hold: with a null character, which
 * PostgreSQL refuses in text, or with half a surrogate pair, which it refuses in jsonb.
 */
const unstorable = (value: unknown, path: string): FieldFault[] => {
	const at = path === '' ? {} : {field: path};
	const name = path === '' ? 'body' : path;
	if (typeof value === 'string') {
		if (value.includes('\0')) {
			return [{message: `${name} must not contain a null character`, ...at}];
		}

		return value.isWellFormed() ? [] : [{message: `${name} must be well-formed Unicode`, ...at}];
	}

	if (value === null || typeof value !== 'object') {
		return [];
	}

	return Object.entries(value).flatMap(([key, item]) => {
		const inner = path === '' ? key : `${path}.${key}`;
		const faults = unstorable(key, path);
		return faults.length > 0 ? faults : unstorable(item, inner);
	});
};

const faultsOf = (error: Joi.ValidationError | undefined): FieldFault[] => {
	const seen = new Set<string>();
	return (error?.details ?? []).flatMap((detail) => {
		const field = detail.path.join('.');
		// One entry per bad field (decisions 3), where joi may report several faults of one value.
		if (seen.has(field)) {
			return [];
		}

		seen.add(field);
		return [field === '' ? {message: detail.message.replace(/^value /, 'body ')} : {message: detail.message, field}];
	});
};

const check = <T>(schema: Joi.Schema<T>, value: unknown, joiOptions: Joi.ValidationOptions): T => {
	const storage = unstorable(value, '');
	if (storage.length > 0) {
		throw validationFailed(storage);
	}

	const result = schema.validate(value, joiOptions);
	if (result.error) {
		throw validationFailed(faultsOf(result.error));
	}

	return result.value as T;
};

/**
 * The validated body, values as they were sent but for the conversions that a schema names itself.
 * @throws 400 'Validation failed' with one detail per bad field.
 */
export const validateBody = <T>(schema: Joi.Schema<T>, value: unknown): T => check(schema, value, bodyOptions);

/** The validated path or query parameters, converted to what they mean. @throws as validateBody. */
export const validateUrlPart = <T>(schema: Joi.Schema<T>, value: unknown): T => check(schema, value, urlOptions);

/** `page` and `limit` of every list (decisions 3). `page` stays where its offset fits a bigint. */
export type PageQuery = {page: number; limit: number};
export const pageQuery = {
	page: Joi.number().integer().min(1).max(1e12).default(1),
	limit: Joi.number().integer().min(1).max(100).default(20),
};
export const pageQuerySchema = Joi.object<PageQuery>(pageQuery);

/** A list as every route answers it. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** Path parameter that is a UUID; a malformed one is 400 (interface 7.2). */
export const uuidParam = Joi.string().guid({separator: '-'}).required();
export const idParams = Joi.object<{id: string}>({id: uuidParam});

const ISO_DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(:(\d\d)([.,]\d{1,9})?)?(Z|z|[+-]\d\d:?\d\d)?$/;

/** An ISO 8601 date-time of the years 1970 to 9999, as a Date; one without an offset is UTC. */
export const isoDateTime = (): Joi.Schema<Date> =>
	Joi.any().custom((value: unknown, helpers) => {
		const match = typeof value === 'string' ? ISO_DATE_TIME.exec(value) : null;
		if (!match) {
			return helpers.message({custom: '{{#label}} must be an ISO 8601 date-time'});
		}

		const [text] = match;
		const normal = text.replace(' ', 'T').replace(',', '.').toUpperCase();
		const date = new Date(match[9] ? normal : `${normal}Z`);
		const day = Number(match[3]);
		// Date rolls 31 February over into March; a caller who wrote that meant something else.
		const exists = day <= new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
		if (Number.isNaN(date.getTime()) || !exists || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) {
			return helpers.message({custom: '{{#label}} must be an ISO 8601 date-time'});
		}

		return date;
	}) as Joi.Schema<Date>;

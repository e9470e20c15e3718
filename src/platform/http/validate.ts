import Joi from 'joi';
import type {PageQuery} from '../db/read-page.ts';
import {type FieldFault, validationFailed} from '../errors.ts';
import {unstorable} from './storable.ts';

/**
 * Wording of contract/requests 3: `<field> must be longer than or equal to N characters`, field names without quotes.
 */
const wording: Record<string, string> = {
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

/** Compiled to joi's templates: joi would compile the texts for every value, which takes as long as validating it. */
const messages = Object.fromEntries(Object.entries(wording).map(([code, text]) => [code, Joi.expression(text)]));

const options: Joi.ValidationOptions = {
	abortEarly: false,
	messages,
	errors: {wrap: {label: false}, label: 'path'},
};

/** Body values are not coerced, query and path values are converted (contract/requests 4). */
const bodyOptions: Joi.ValidationOptions = {...options, convert: false};

/** Unknown query parameters are ignored: callers may add any to a URL. */
const urlOptions: Joi.ValidationOptions = {...options, convert: true, stripUnknown: true};

const faultsOf = (error: Joi.ValidationError): FieldFault[] => {
	const seen = new Set<string>();
	return error.details.flatMap((detail) => {
		const field = detail.path.join('.');
		// One entry per bad field (contract/requests 3); joi may report several faults of one value.
		if (seen.has(field)) {
			return [];
		}

		seen.add(field);
		// joi calls an array's item `tags[0]`, the envelope `tags.0`: the message uses the latter.
		const label = detail.context?.label ?? '';
		const message = label === field ? detail.message : detail.message.replace(label, field === '' ? 'body' : field);
		return [field === '' ? {message} : {message, field}];
	});
};

/** One fault more than an answer lists, to show that there are more. Bounded, because joi formats a text for each fault. */
const MAX_FAULTS = 101;
const first = (errors: Joi.ErrorReport[]): Joi.ErrorReport[] => errors.slice(0, MAX_FAULTS);

export type Checked<T> = {value: T; faults: FieldFault[]};

const nothingWrong: FieldFault[] = [];

/**
 * Adds options to schemas once: joi would merge the options of a call with the schema's own for every value, which
 * takes as long as validating it. The schema's own options take precedence, as in a call.
 */
const preparedWith = (options: Joi.ValidationOptions) => {
	const prepared = new WeakMap<Joi.Schema, Joi.Schema>();
	return <T>(schema: Joi.Schema<T>): Joi.Schema<T> => {
		const known = prepared.get(schema);
		if (known !== undefined) {
			return known as Joi.Schema<T>;
		}

		const {preferences} = schema.describe() as {preferences?: Joi.ValidationOptions};
		if (preferences?.messages !== undefined) {
			throw new Error('the messages of a part of a request would be lost');
		}

		const ready = schema.prefs({...options, ...preferences}).error(first) as Joi.Schema<T>;
		prepared.set(schema, ready);
		return ready;
	};
};

const ofBody = preparedWith(bodyOptions);
const ofUrl = preparedWith(urlOptions);

const check = <T>(schema: Joi.Schema<T>, value: unknown, options?: Joi.ValidationOptions): Checked<T> => {
	const unstored = unstorable(value);
	if (unstored.length > 0) {
		return {value: value as T, faults: unstored};
	}

	const {value: checked, error} = schema.validate(value, options);
	return {value: checked as T, faults: error === undefined ? nothingWrong : faultsOf(error)};
};

/** The configuration that custom rules read, as joi's context. */
export type BodyContext = {
	/** Destinations on them would be loops. */
	linkHosts: readonly string[];
	/** The verdict of the lists on an address; absent if there are no lists. */
	linkPolicy?: {of(address: string): {state: 'block' | 'warn'; list: string} | null};
};

/** The body and its faults; values are as sent, except for conversions that the schema declares. */
export const checkBody = <T>(schema: Joi.Schema<T>, value: unknown, context: BodyContext): Checked<T> =>
	check(ofBody(schema), value, {context});

/** The converted path or query parameters, and their faults. */
export const checkUrlPart = <T>(schema: Joi.Schema<T>, value: unknown): Checked<T> => check(ofUrl(schema), value);

/** The validated body. @throws 400 'Validation failed' with one detail per bad field. */
export const validateBody = <T>(schema: Joi.Schema<T>, value: unknown, context: BodyContext): T => {
	const {value: checked, faults} = checkBody(schema, value, context);
	if (faults.length > 0) {
		throw validationFailed(faults);
	}

	return checked;
};

/** An integer in a query, digits only: `1e1` and ` 10` are invalid. */
export const integerQuery = ({min, max}: {min: number; max: number}): Joi.Schema<number> =>
	Joi.any()
		.custom((value: unknown, helpers) => {
			if (typeof value !== 'string' || !/^-?\d{1,15}$/.test(value)) {
				return helpers.message({custom: '{{#label}} must be an integer'});
			}

			const number = Number(value);
			if (number < min) {
				return helpers.message({custom: `{{#label}} must be greater than or equal to ${min}`});
			}

			return number > max ? helpers.message({custom: `{{#label}} must be less than or equal to ${max}`}) : number;
		})
		.meta({schema: {type: 'integer', minimum: min, maximum: max}}) as Joi.Schema<number>;

/** A query parameter that means true or false. */
export const booleanQuery = Joi.boolean().sensitive();

export const pageQuery = {
	page: integerQuery({min: 1, max: 1e12}).default(1),
	limit: integerQuery({min: 1, max: 100}).default(20),
};
export const pageQuerySchema = Joi.object<PageQuery>(pageQuery);

/** A UUID, without the brackets that joi would allow and PostgreSQL does not. */
export const uuidField = Joi.string().guid({separator: '-', wrapper: false});

/** Path parameter that is a UUID; a malformed one is 400 (contract/requests 3). */
export const uuidParam = uuidField.required();
export const idParams = Joi.object<{id: string}>({id: uuidParam});

const ISO_DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(:(\d\d)([.,]\d{1,9})?)?(Z|z|[+-]\d\d:?\d\d)?$/;

/** As JSON Schema. Its `date-time` requires seconds and an offset, and allows leap seconds, which Date does not. */
const dateTimeSchema = {
	type: 'string',
	format: 'date-time',
	pattern: '^(?:19[7-9]|[2-9]\\d\\d)\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]\\d\\d:\\d\\d)$',
	description: 'Of the years 1970 to 9999 in UTC.',
};

/** An ISO 8601 date-time of the years 1970 to 9999, as a Date; one without an offset is UTC. */
export const isoDateTime = (): Joi.Schema<Date> =>
	Joi.any()
		.custom((value: unknown, helpers) => {
			const match = typeof value === 'string' ? ISO_DATE_TIME.exec(value) : null;
			if (!match) {
				return helpers.message({custom: '{{#label}} must be an ISO 8601 date-time'});
			}

			const [text] = match;
			const normal = text.replace(',', '.').toUpperCase();
			const date = new Date(match[9] ? normal : `${normal}Z`);
			const day = Number(match[3]);
			// Date turns 31 February into March.
			const exists = day <= new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
			if (Number.isNaN(date.getTime()) || !exists || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) {
				return helpers.message({custom: '{{#label}} must be an ISO 8601 date-time'});
			}

			return date;
		})
		.meta({schema: dateTimeSchema}) as Joi.Schema<Date>;

import Joi from 'joi';

/**
 * An answer other than plain JSON: its media types and a description; `lines` is the schema of a line of NDJSON, `json`
 * that of JSON that may come instead.
 */
export type MediaAnswer = {media: readonly string[]; about: string; lines?: Joi.Schema; json?: Joi.Schema};

/** The answer of a route: the schema of its JSON, something else, or null for no body. */
export type Answer = Joi.Schema | MediaAnswer | null;

/**
 * The parts of a route besides its validation. The API document is generated from it, and the test suite compares
 * every answer with it.
 */
export type RouteDescription = {
	/** One line, used as a heading. */
	summary: string;
	/** Further information for callers. */
	description?: string;
	answer: Answer;
	/** Further answers that are not refusals, by status. */
	otherAnswers?: Readonly<Record<number, Answer>>;
	/** Whether its server is the link domain, not the API host. */
	onLinkDomain?: boolean;
	/** Statuses of the operation's own refusals, besides those of credential, limit, body and values. */
	refusals?: readonly number[];
	/** Bodies that the handler reads itself, by media type. */
	accepts?: Readonly<Record<string, Joi.Schema | string>>;
	/** Headers that the handler reads, with a description. */
	headers?: Readonly<Record<string, string>>;
	/** The signer of a webhook, as a security scheme of the API document. */
	signature?: 'identityProviderSignature' | 'gatewayASignature' | 'gatewayBSignature';
};

/** The value that a schema of an answer describes. A time is a `Date`, which JSON has as a text. */
export type ValueOf<Schema> = Schema extends Joi.AnySchema<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Joi.AnySchema>>;
type OptionalName<F extends Fields> = {[Name in keyof F]: undefined extends ValueOf<F[Name]> ? Name : never}[keyof F];
type ObjectOf<F extends Fields> = {[Name in Exclude<keyof F, OptionalName<F>>]: ValueOf<F[Name]>} & {
	[Name in OptionalName<F>]?: Exclude<ValueOf<F[Name]>, undefined>;
};

/** An object whose fields are all required, unless one is `optional`. */
export const partOf = <F extends Fields>(fields: F): Joi.ObjectSchema<ObjectOf<F>> =>
	// Not by an option of the object: joi validates options by a schema, which would double the time of these objects at a
	// start.
	Joi.object(
		Object.fromEntries(
			Object.entries(fields).map(([name, field]) => [
				name,
				field.$_getFlag('presence') === undefined ? field.required() : field,
			]),
		),
	);

/** An object with required fields, and a name in the API document. */
export const answerOf = <F extends Fields>(name: string, fields: F): Joi.ObjectSchema<ObjectOf<F>> =>
	partOf(fields).meta({name});

export const optional = <T>(schema: Joi.AnySchema<T>): Joi.AnySchema<T | undefined> => schema.optional();
export const orNull = <T>(schema: Joi.AnySchema<T>): Joi.AnySchema<T | null> => schema.allow(null);
export const listOf = <T>(item: Joi.AnySchema<T>): Joi.AnySchema<T[]> => Joi.array().items(item);
export const oneOf = <const T extends string | boolean | null>(...values: readonly T[]): Joi.AnySchema<T> =>
	Joi.valid(...values);

export const text: Joi.AnySchema<string> = Joi.string().allow('');
export const textOrNull = orNull(text);
export const uuid: Joi.AnySchema<string> = Joi.string().guid();
export const uuidOrNull = orNull(uuid);
const isoDate: Joi.AnySchema = Joi.string().isoDate();
export const instant: Joi.AnySchema<Date> = isoDate;
export const instantOrNull = orNull(instant);
/** A time that is a text already. */
export const instantText: Joi.AnySchema<string> = isoDate;
export const flag: Joi.AnySchema<boolean> = Joi.boolean();
export const count: Joi.AnySchema<number> = Joi.number().integer().min(0);
/** Any JSON object. */
export const anyObject: Joi.AnySchema<Record<string, unknown>> = Joi.object().unknown(true);

/** A page of `item`, the shape of every list (contract/requests 10). */
export const pageOf = <T>(item: Joi.AnySchema<T>) =>
	partOf({data: listOf(item), total: count, page: count, limit: count});

/** The answer to a removal. */
export const deletedAnswer = answerOf('Deleted', {id: text, deleted: Joi.valid(true)});

/** The answer to a webhook. */
export const receivedAnswer = answerOf('Received', {received: Joi.valid(true)});

/**
 * The envelope of every error (contract/requests 1), with the extra fields of structured ones (contract/requests 5).
 */
export const errorAnswer = answerOf('Error', {
	statusCode: Joi.number().integer().min(400).max(599),
	error: text,
	message: text,
	details: Joi.array()
		.items(answerOf('FieldFault', {message: text, field: text.optional()}))
		.allow(null),
	code: Joi.valid(
		'QUOTA_EXCEEDED',
		'PLAN_NOT_SELECTED',
		'FEATURE_NOT_AVAILABLE',
		'USE_BILLING_FLOW',
		'APP_CONFIG_REQUIRED',
	).optional(),
	quota: text.optional(),
	feature: text.optional(),
	billingEndpoint: text.optional(),
	timestamp: instant,
	path: text,
	requestId: text,
});

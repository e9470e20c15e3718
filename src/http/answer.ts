import Joi from 'joi';

/**
 * An answer that is no plain JSON: its media types, and in words what it is; `lines` is the schema of a line of NDJSON,
 * `json` that of the JSON that may come instead.
 */
export type MediaAnswer = {media: readonly string[]; about: string; lines?: Joi.Schema; json?: Joi.Schema};

/** What a route answers: the schema of its JSON, something else, or null for no body. */
export type Answer = Joi.Schema | MediaAnswer | null;

/**
 * What a route tells of itself beside what validates requests. The document of the API is made of it, and the test
 * suite compares every answer that it gets with it.
 */
export type Declared = {
	/** One line, as a heading has it. */
	summary: string;
	/** What a caller has to know beyond that. */
	description?: string;
	answer: Answer;
	/** Answers with another status that are no refusals. */
	otherAnswers?: Readonly<Record<number, Answer>>;
	/** Statuses of the operation's own refusals, beside those of the pipeline: credential, limit, body, values. */
	refusals?: readonly number[];
	/** Bodies that the handler reads itself, by media type. */
	accepts?: Readonly<Record<string, Joi.Schema | string>>;
	/** Headers that the handler reads, in words. */
	headers?: Readonly<Record<string, string>>;
	/** Where a webhook's signature stands. */
	signature?: {in: 'header' | 'query'; name: string};
};

/** An object that has all the fields that are named, unless one says `optional()`. */
export const answerOf = (name: string, fields: Joi.SchemaMap): Joi.ObjectSchema =>
	Joi.object(fields).options({presence: 'required'}).meta({name});

/** The same where the object has no name of its own. */
export const partOf = (fields: Joi.SchemaMap): Joi.ObjectSchema => Joi.object(fields).options({presence: 'required'});

export const text = Joi.string().allow('');
export const textOrNull = text.allow(null);
export const uuid = Joi.string().guid();
export const uuidOrNull = uuid.allow(null);
export const instant = Joi.string().isoDate();
export const instantOrNull = instant.allow(null);
export const flag = Joi.boolean();
export const count = Joi.number().integer().min(0);
/** Anything that JSON has. */
export const anyObject = Joi.object().unknown(true);

/** A list of `item`, as every list is answered (contract/requests 10). */
export const pageOf = (item: Joi.Schema): Joi.ObjectSchema =>
	partOf({data: Joi.array().items(item), total: count, page: count, limit: count});

/** What a removal answers. */
export const deletedAnswer = answerOf('Deleted', {id: text, deleted: Joi.valid(true)});

/** What every webhook answers. */
export const receivedAnswer = answerOf('Received', {received: Joi.valid(true)});

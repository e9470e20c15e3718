import type Joi from 'joi';
import {required} from '../../platform/errors.ts';
import {type JsonSchema, schemaRules} from './schema-rules.ts';

export type {JsonSchema} from './schema-rules.ts';

/** The part of joi's `describe()` that is used here. */
type Description = {
	type: string;
	flags?: {
		presence?: 'required' | 'optional' | 'forbidden';
		only?: boolean;
		unknown?: boolean;
		single?: boolean;
		sensitive?: boolean;
		default?: unknown;
		description?: string;
	};
	allow?: unknown[];
	rules?: Array<{name: string; args?: Record<string, unknown>}>;
	keys?: Record<string, Description>;
	items?: Description[];
	patterns?: Array<{regex?: string; schema?: Description; rule: Description}>;
	matches?: Array<{schema: Description}>;
	whens?: Array<{ref: {path: string[]}; is: Description; then?: Description; otherwise?: Description}>;
	dependencies?: Array<{rel: string; peers: string[]}>;
	metas?: Array<{name?: string; schema?: JsonSchema}>;
	preferences?: {convert?: boolean; stripUnknown?: boolean};
};

/** Where named schemas are collected, and whether a schema is for requests or answers. */
export type Target = {components: Record<string, JsonSchema>; of: 'request' | 'answer'};

const KNOWN = new Set(
	'type flags allow rules keys items patterns matches whens dependencies metas preferences'.split(' '),
);
const KNOWN_FLAGS = new Set('presence only unknown unsafe single sensitive default description error'.split(' '));

const requireKnown = (description: Description): void => {
	const unknown = [
		...Object.keys(description).filter((key) => !KNOWN.has(key)),
		...Object.keys(description.flags ?? {}).filter((key) => !KNOWN_FLAGS.has(key)),
	];
	if (unknown.length > 0 || schemaRules[description.type] === undefined) {
		throw new Error(`No JSON Schema for ${unknown.join(', ') || description.type} of ${JSON.stringify(description)}`);
	}
};

/** The schema's own keywords, required for rules in code, which cannot be described otherwise. */
const wordsOf = ({metas = []}: Description): JsonSchema | null => {
	const given = metas.flatMap(({schema}) => schema ?? []);
	return given.length === 0 ? null : Object.assign({}, ...given);
};

/** A schema has one pattern; a second one becomes a condition beside it. */
const addTo = (keywords: JsonSchema, {pattern, ...added}: JsonSchema): void => {
	Object.assign(keywords, added);
	if (pattern !== undefined) {
		Object.assign(keywords, 'pattern' in keywords ? {allOf: [{pattern}]} : {pattern});
	}
};

const ruleKeywords = (description: Description): JsonSchema => {
	const {type} = description;
	const words = wordsOf(description);
	const keywords: JsonSchema = {};
	for (const {name, args = {}} of description.rules ?? []) {
		if (name === 'custom' && words !== null) {
			continue;
		}

		const fault = () => new Error(`No JSON Schema for the rule ${name} of ${JSON.stringify(description)}`);
		addTo(keywords, required(schemaRules[type]?.[name], fault)(args));
	}

	return {...keywords, ...words};
};

/** Values allowed beside or instead of the type; null is separate. */
const allowedOf = ({allow = []}: Description) => {
	const values = allow.filter((value) => typeof value !== 'object' || value === null);
	return {isNullable: values.includes(null), values: values.filter((value) => value !== null)};
};

const stringKeywords = (description: Description): JsonSchema => {
	const keywords = ruleKeywords(description);
	const {values} = allowedOf(description);
	// An empty string is invalid unless allowed explicitly.
	const isFree = values.includes('') || 'minLength' in keywords || 'format' in keywords;
	const schema = {type: 'string', ...(isFree ? {} : {minLength: 1}), ...keywords};
	const others = values.filter((value) => value !== '' || 'minLength' in keywords);
	return others.length === 0 ? schema : {anyOf: [schema, {enum: others}]};
};

/** Numbers beyond these lose digits, so no body may contain them. */
const SAFE = {minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER};

const isRequired = ({flags}: Description): boolean => flags?.presence === 'required';

/** `when`: fields that depend on another one, as a condition on the object. */
const conditionOf = (name: string, {whens = []}: Description, context: Target): JsonSchema[] =>
	whens.map(({ref, is, then, otherwise}) => {
		const [decider = ''] = ref.path;
		const part = (described: Description): JsonSchema => ({
			...(described.flags?.only ? {properties: {[name]: translate(described, context)}} : {}),
			...(isRequired(described) ? {required: [name]} : {}),
		});
		return {
			if: {properties: {[decider]: translate(is, context)}, required: [decider]},
			// biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword, in an object that is never awaited
			...(then ? {then: part(then)} : {}),
			...(otherwise ? {else: part(otherwise)} : {}),
		};
	});

const objectKeywords = (description: Description, context: Target): JsonSchema => {
	const {keys = {}, patterns = [], dependencies = [], flags = {}, preferences = {}} = description;
	const properties = Object.entries(keys).filter(([, one]) => one.flags?.presence !== 'forbidden');
	const required = properties.filter(([, one]) => isRequired(one)).map(([name]) => name);
	const [pattern] = patterns;
	const isOpen = flags.unknown === true || preferences.stripUnknown === true || context.of === 'answer';
	// Client generators take an object without fields for an empty one, unless stated otherwise.
	const others = isOpen ? (properties.length === 0 ? {additionalProperties: true} : {}) : {additionalProperties: false};
	const exclusions = dependencies.map(({rel, peers}) => {
		if (rel !== 'oxor') {
			throw new Error(`No JSON Schema for ${rel}`);
		}

		return {not: {required: peers}};
	});
	const conditions = [...properties.flatMap(([name, one]) => conditionOf(name, one, context)), ...exclusions];
	return {
		type: 'object',
		...(properties.length > 0
			? {properties: Object.fromEntries(properties.map(([name, one]) => [name, translate(one, context)]))}
			: {}),
		...(required.length > 0 ? {required} : {}),
		...(pattern ? {additionalProperties: translate(pattern.rule, context)} : others),
		...(conditions.length > 0 ? {allOf: conditions} : {}),
		...ruleKeywords(description),
	};
};

const arrayKeywords = (description: Description, context: Target): JsonSchema => {
	const items = (description.items ?? []).map((item) => translate(item, context));
	return {
		type: 'array',
		...(items.length === 0 ? {} : {items: items.length === 1 ? items[0] : {anyOf: items}}),
		...ruleKeywords(description),
	};
};

const keywordsOf = (description: Description, context: Target): JsonSchema => {
	if (description.flags?.only === true) {
		const {values} = allowedOf(description);
		const types = [...new Set(values.map((value) => typeof value))];
		return {...(types.length === 1 ? {type: types[0]} : {}), enum: values};
	}

	switch (description.type) {
		case 'object':
			return objectKeywords(description, context);
		case 'array':
			return arrayKeywords(description, context);
		case 'string':
			return stringKeywords(description);
		case 'alternatives':
			return {anyOf: (description.matches ?? []).map(({schema}) => translate(schema, context))};
		case 'any':
			return ruleKeywords(description);
		case 'number':
			return {type: 'number', ...(context.of === 'request' ? SAFE : {}), ...ruleKeywords(description)};
		default:
			return {type: description.type, ...ruleKeywords(description)};
	}
};

const withNull = (schema: JsonSchema): JsonSchema => {
	const {type, enum: values} = schema;
	if (typeof type !== 'string') {
		return {anyOf: [schema, {type: 'null'}]};
	}

	return {...schema, type: [type, 'null'], ...(Array.isArray(values) ? {enum: [...values, null]} : {})};
};

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

const translate = (description: Description, context: Target): JsonSchema => {
	requireKnown(description);
	const {metas = [], flags = {}} = description;
	const name = metas.find((meta) => meta.name !== undefined)?.name;
	let schema: JsonSchema;
	if (name === undefined) {
		schema = keywordsOf(description, context);
	} else {
		context.components[name] ??= keywordsOf(description, context);
		schema = {$ref: `#/components/schemas/${name}`};
	}

	return {
		...(allowedOf(description).isNullable ? withNull(schema) : schema),
		...(isPlain(flags.default) ? {default: flags.default} : {}),
		...(flags.description === undefined ? {} : {description: flags.description}),
	};
};

/** Schemas are shared by many routes, and describing one takes a millisecond. */
const descriptions = new WeakMap<Joi.Schema, Description>();

const describe = (schema: Joi.Schema): Description => {
	const known = descriptions.get(schema) ?? (schema.describe() as Description);
	descriptions.set(schema, known);
	return known;
};

/**
 * Translates a joi schema to JSON Schema. Names (`meta({name})`) become references to `components`; a rule in code
 * provides its keywords as `meta({schema})`.
 * @throws Error at a rule, flag or type without a translation here.
 */
export const toJsonSchema = (schema: Joi.Schema, target: Target): JsonSchema => translate(describe(schema), target);

/** The fields of a schema of path or query parameters, in order, and whether each is required. */
export const fieldsOf = (
	schema: Joi.Schema,
	target: Target,
): Array<{name: string; isRequired: boolean; schema: JsonSchema}> => {
	const {keys = {}} = describe(schema);
	return Object.entries(keys).map(([name, description]) => ({
		name,
		isRequired: isRequired(description),
		schema: translate(description, target),
	}));
};

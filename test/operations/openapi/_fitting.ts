import {Ajv2020} from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import type {JsonSchema} from '../../../src/operations/openapi/json-schema.ts';
import {document} from '../../setup/documented.ts';

/** Constraints beyond a field's schema: the words in its description, and valid values. */
export type Beyond = {words: RegExp; values: fc.Arbitrary<unknown>};

/** The fields that have such rules, by name. */
export const beyondSchema: Readonly<Record<string, Beyond>> = {
	timezone: {
		words: /IANA time zone|Cut to|left out/,
		values: fc.constantFrom('Europe/Berlin', 'UTC', 'Asia/Kathmandu'),
	},
	plan: {words: /plan of this installation/, values: fc.constantFrom('STARTER', 'solo', 'GROWTH', 'SCALE')},
	url: {
		words: /leads to public addresses|except the link hosts of this server/,
		values: fc.constantFrom('https://hooks.example.com/oplink', 'https://hooks.example.com:8443/?a=b'),
	},
	hostname: {
		words: /public suffix.*not a host of this service/,
		values: fc
			.tuple(fc.stringMatching(/^[a-z]{3,12}$/), fc.constantFrom('com', 'co.uk', 'example'))
			.map(([label, suffix]) => `go.${label}.${suffix}`),
	},
};

const ajv = new Ajv2020({strict: false, allErrors: false, unicodeRegExp: true});
addFormats.default(ajv);
ajv.addSchema({$id: 'doc', ...JSON.parse(JSON.stringify(document))});

/** Whether a value fits a schema of the document, by a validator that others keep. */
export const fits = (schema: JsonSchema): ((value: unknown) => boolean) => {
	const text = JSON.stringify(schema).replaceAll('"#/', '"doc#/');
	const validate = ajv.compile(JSON.parse(text));
	return (value) => validate(value) === true;
};

const formats: Record<string, () => fc.Arbitrary<string>> = {
	uuid: () => fc.uuid(),
	uri: () => fc.webUrl({withFragments: true, withQueryParameters: true}),
	'uri-template': () => fc.webUrl().map((url) => `${url}?code={code}`),
	email: () => fc.emailAddress(),
	'date-time': () =>
		fc
			.tuple(
				fc.date({min: new Date('1971-01-01'), max: new Date('9998-12-31'), noInvalidDate: true}),
				fc.constantFrom('', '.5', '.123456789'),
				fc.constantFrom('Z', '+05:45', '-11:00'),
			)
			.map(([at, fraction, offset]) => at.toISOString().replace(/\.\d+Z$/, `${fraction}${offset}`)),
};

/** Lengths count UTF-16 code units, as the document says. */
const textOf = ({format, pattern, minLength = 0, maxLength}: JsonSchema): fc.Arbitrary<string> => {
	const max = Number(maxLength ?? 300);
	const isShort = (text: string) => text.length <= max && text.length >= Number(minLength);
	const made = formats[String(format)]?.();
	if (made !== undefined) {
		return made.filter(isShort);
	}

	if (typeof pattern === 'string') {
		return fc.stringMatching(new RegExp(pattern, 'u'), {size: 'small'}).filter((text) => isShort(text));
	}

	return fc.oneof(
		fc.string({unit: 'grapheme', minLength: Number(minLength), maxLength: Math.min(max, 40)}).filter(isShort),
		fc.constantFrom('a'.repeat(max), ' '.repeat(Math.max(1, Number(minLength)))).filter(isShort),
	);
};

const integersOf = ({minimum = -1e9, maximum = 1e9}: JsonSchema) =>
	fc.oneof(fc.integer({min: Number(minimum), max: Number(maximum)}), fc.constantFrom(Number(minimum), Number(maximum)));

const arraysOf = ({items, minItems, maxItems, uniqueItems}: JsonSchema): fc.Arbitrary<unknown> => {
	const bounds = {minLength: Number(minItems ?? 0), maxLength: Math.min(Number(maxItems ?? 5), 20)};
	const item = valuesOf((items ?? {}) as JsonSchema);
	return uniqueItems === true ? fc.uniqueArray(item, {...bounds, selector: JSON.stringify}) : fc.array(item, bounds);
};

const othersOf = (schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> => {
	const {additionalProperties: others, maxProperties} = schema;
	if (others === false) {
		return fc.constant({});
	}

	// Few, because bytes are limited too, which a schema cannot express.
	const key = fc.string({unit: 'grapheme', maxLength: 10}).filter((name) => name !== '__proto__');
	const value = typeof others === 'object' ? valuesOf({...others, maxLength: 40}) : fc.jsonValue({maxDepth: 2});
	return fc.dictionary(key, value, {maxKeys: Math.min(Number(maxProperties ?? 5), 5), noNullPrototype: true});
};

const objectsOf = (schema: JsonSchema): fc.Arbitrary<unknown> => {
	const fields = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
	const values = Object.fromEntries(
		Object.entries(fields).map(([name, field]) => [name, beyondSchema[name]?.values ?? valuesOf(field)]),
	);
	const requiredKeys = (schema['required'] ?? []) as string[];
	return fc
		.tuple(othersOf(schema), fc.record(values, {requiredKeys, noNullPrototype: true}))
		.map(([others, named]) => ({...others, ...named}));
};

const ofType = (schema: JsonSchema, type: string): fc.Arbitrary<unknown> => {
	switch (type) {
		case 'string':
			return textOf(schema);
		case 'integer':
			return integersOf(schema);
		case 'number':
			return fc.oneof(fc.double({noNaN: true, min: -1e15, max: 1e15}), integersOf({...schema}));
		case 'boolean':
			return fc.boolean();
		case 'array':
			return arraysOf(schema);
		case 'object':
			return objectsOf(schema);
		default:
			return fc.constant(null);
	}
};

/** Values generated from a schema alone; whole bodies are checked again with `fits`. */
export const valuesOf = (schema: JsonSchema): fc.Arbitrary<unknown> => {
	const {anyOf, enum: values, type} = schema;
	if (Array.isArray(anyOf)) {
		return fc.oneof(...(anyOf as JsonSchema[]).map(valuesOf));
	}

	if (Array.isArray(values)) {
		return fc.constantFrom(...values);
	}

	const types = type === undefined ? null : [type].flat().map(String);
	const made = types === null ? fc.jsonValue({maxDepth: 2}) : fc.oneof(...types.map((one) => ofType(schema, one)));
	return schema['not'] === undefined && (schema['allOf'] === undefined || types?.includes('object'))
		? made
		: made.filter(fits(schema));
};

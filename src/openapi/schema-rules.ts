/** A schema of JSON Schema 2020-12, which is what OpenAPI 3.1 has. */
export type JsonSchema = {[keyword: string]: unknown};

const patternOf = (regex: unknown): JsonSchema => {
	const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(String(regex)) ?? [];
	if (source === undefined || (flags !== '' && flags !== 'u')) {
		throw new Error(`JSON Schema has no flags of patterns but u: ${regex}`);
	}

	return {pattern: source};
};

type Rule = (args: Record<string, unknown>) => JsonSchema;

/** Each rule of a type that we use, as keywords. What has no line here is a mistake in this table (`custom` aside). */
export const schemaRules: Record<string, Record<string, Rule>> = {
	any: {},
	alternatives: {},
	boolean: {},
	string: {
		min: ({limit}) => ({minLength: limit}),
		max: ({limit}) => ({maxLength: limit}),
		guid: () => ({format: 'uuid'}),
		email: () => ({format: 'email'}),
		isoDate: () => ({format: 'date-time'}),
		pattern: ({regex}) => patternOf(regex),
		// Bodies are not trimmed, so that a space at either end is a fault.
		trim: () => ({pattern: '^\\S(?:[\\s\\S]*\\S)?$'}),
	},
	number: {
		integer: () => ({type: 'integer'}),
		min: ({limit}) => ({minimum: limit}),
		max: ({limit}) => ({maximum: limit}),
	},
	array: {
		min: ({limit}) => ({minItems: limit}),
		max: ({limit}) => ({maxItems: limit}),
		unique: ({comparator}) => ({
			uniqueItems: true,
			...(comparator === undefined ? {} : {description: `No two with the same ${comparator}.`}),
		}),
	},
	object: {
		max: ({limit}) => ({maxProperties: limit}),
	},
};

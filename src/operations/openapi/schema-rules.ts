/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = {[keyword: string]: unknown};

const patternOf = (regex: unknown): JsonSchema => {
	const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(String(regex)) ?? [];
	if (source === undefined || (flags !== '' && flags !== 'u')) {
		throw new Error(`JSON Schema has no flags of patterns but u: ${regex}`);
	}

	return {pattern: source};
};

type Rule = (args: Record<string, unknown>) => JsonSchema;

/** The rules of each type, as keywords. A rule that is not here, but for `custom`, makes the generation of openapi.json fail. */
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
		// Bodies are not trimmed, so leading and trailing spaces are faults.
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

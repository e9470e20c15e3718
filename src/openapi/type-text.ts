import {type Html, html} from '../resolution/html.ts';
import type {JsonSchema} from './json-schema.ts';

const REF = '#/components/schemas/';

export const schemaName = (schema: JsonSchema): string | null =>
	typeof schema['$ref'] === 'string' ? schema['$ref'].slice(REF.length) : null;

const boundWords: Array<[string, (value: unknown) => string]> = [
	['minLength', (value) => `${value} or more characters`],
	['maxLength', (value) => `up to ${value} characters`],
	['minimum', (value) => `≥ ${value}`],
	['maximum', (value) => `≤ ${value}`],
	['minItems', (value) => `${value} or more`],
	['maxItems', (value) => `up to ${value}`],
	['maxProperties', (value) => `up to ${value} keys`],
	['pattern', (value) => String(value)],
	['default', (value) => `default ${JSON.stringify(value)}`],
];

/** The constraints of a schema beyond its type, in a few words. */
export const boundsOf = (schema: JsonSchema): string =>
	[
		...boundWords.flatMap(([key, words]) =>
			schema[key] === undefined || (key === 'minLength' && schema[key] === 1) ? [] : [words(schema[key])],
		),
		...(typeof schema['description'] === 'string' ? [schema['description']] : []),
	].join('; ');

const typesOf = ({type}: JsonSchema): string[] => (Array.isArray(type) ? type.map(String) : [String(type ?? 'any')]);

const joined = (parts: Html[], separator: string): Html =>
	html`${parts.map((part, index) => html`${index > 0 && separator}${part}`)}`;

/** A schema's type on one line in TypeScript's notation; named schemas are links into the page. */
export const typeText = (schema: JsonSchema): Html => {
	const name = schemaName(schema);
	if (name !== null) {
		return html`<a href="#schema-${name}">${name}</a>`;
	}

	const {anyOf, enum: values, items, properties, additionalProperties, format} = schema;
	if (Array.isArray(anyOf)) {
		return joined((anyOf as JsonSchema[]).map(typeText), ' | ');
	}

	if (Array.isArray(values)) {
		return joined(
			values.map((value) => html`${JSON.stringify(value)}`),
			' | ',
		);
	}

	return joined(
		typesOf(schema).map((type) => {
			if (type === 'array') {
				return html`${items === undefined ? 'any' : typeText(items as JsonSchema)}[]`;
			}

			if (type === 'object' && properties === undefined && typeof additionalProperties === 'object') {
				return html`map of ${typeText(additionalProperties as JsonSchema)}`;
			}

			return html`${type === 'string' && typeof format === 'string' ? format : type}`;
		}),
		' | ',
	);
};

/** The schema whose fields are listed separately below: itself, or the item of a list. */
const innerOf = (schema: JsonSchema): JsonSchema | null => {
	if (schema['properties'] !== undefined) {
		return schema;
	}

	const items = schema['items'] as JsonSchema | undefined;
	return items === undefined ? null : innerOf(items);
};

/** The fields of an object, nested ones indented. */
export const fieldList = (schema: JsonSchema): Html | null => {
	const inner = innerOf(schema);
	if (inner === null) {
		return null;
	}

	const required = new Set((inner['required'] ?? []) as string[]);
	const fields = Object.entries(inner['properties'] as Record<string, JsonSchema>);
	return html`<ul class="fields">${fields.map(
		([name, field]) =>
			html`<li><code class="name">${name}</code>${
				required.has(name) ? html`<span class="required" title="required">required</span>` : null
			} <code class="type">${typeText(field)}</code>${
				boundsOf(field) !== '' && html` <span class="bounds">${boundsOf(field)}</span>`
			}${fieldList(field)}</li>`,
	)}</ul>`;
};

import type {JsonSchema} from './json-schema.ts';

const formats: Record<string, string> = {
	uuid: '7d0b8b1e-6f0c-4c57-9a3e-2f4f0c1d9a10',
	'date-time': '2026-01-31T12:00:00.000Z',
	email: 'owner@example.com',
	uri: 'https://example.com/shop',
};

/** Example values for text fields of these names. */
const names: Record<string, string> = {
	path: '/products/42',
	shortCode: 'spring',
	orgKey: 'AB12',
	url: 'https://go.example.com/AB12/spring',
	deviceId: '9f2c6c1a-device',
	name: 'Acme',
	hostname: 'go.example.com',
	plan: 'GROWTH',
	eventName: 'purchase',
	externalUserId: 'user-42',
	clipboardToken: 'opl_4Fz0cT1mQ8vB7yKq2XnR5sLw9HdJ3GaE',
	packageName: 'com.example.app',
	timezone: 'Europe/Berlin',
	language: 'en-US',
};

const stringSample = (schema: JsonSchema, name: string): string =>
	formats[String(schema['format'])] ?? names[name] ?? `${name || 'text'}`;

/** An example value of a schema; of an object only required fields and the path. */
export const sampleOf = (schema: JsonSchema, schemas: Record<string, JsonSchema>, name = ''): unknown => {
	const {$ref, anyOf, enum: values, default: usual, type, properties, items} = schema;
	if (typeof $ref === 'string') {
		return sampleOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas, name);
	}

	if (usual !== undefined) {
		return usual;
	}

	if (Array.isArray(values)) {
		return values[0];
	}

	if (Array.isArray(anyOf)) {
		return sampleOf(anyOf[0] as JsonSchema, schemas, name);
	}

	switch (Array.isArray(type) ? type[0] : type) {
		case 'string':
			return stringSample(schema, name);
		case 'integer':
		case 'number':
			return schema['minimum'] ?? 0;
		case 'boolean':
			return true;
		case 'array':
			return items === undefined ? [] : [sampleOf(items as JsonSchema, schemas, name)];
		case 'object': {
			const required = (schema['required'] ?? []) as string[];
			const fields = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
			return Object.fromEntries(
				fields
					.filter(([key]) => required.includes(key) || key === 'path')
					.map(([key, field]) => [key, sampleOf(field, schemas, key)]),
			);
		}
		default:
			return null;
	}
};

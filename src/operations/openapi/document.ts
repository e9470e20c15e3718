import {STATUS_CODES} from 'node:http';
import {errorAnswer} from '../../platform/http/answer.ts';
import type {DeclaredRoute} from '../../platform/http/route.ts';
import {type JsonSchema, toJsonSchema} from './json-schema.ts';
import {type Operation, operationOf, refusalName, templateOf} from './operation.ts';
import {tags} from './tags.ts';

export type OpenApiDocument = {
	openapi: string;
	info: {title: string; version: string; description: string; license: {name: string; identifier: string}};
	servers: Array<{url: string}>;
	tags: Array<{name: string; description: string}>;
	paths: Record<string, Record<string, Operation>>;
	components: {
		schemas: Record<string, JsonSchema>;
		responses: Record<string, object>;
		headers: Record<string, object>;
		securitySchemes: Record<string, object>;
	};
};

const description = `Deep links that you host yourself.

**Errors** all have one envelope, the schema \`Error\`: \`statusCode\`, \`error\`, \`message\`, \`details\` (one line per invalid field, with 400 only), \`timestamp\`, \`path\` and \`requestId\`. The header \`X-Error-Code\` names the refusal, such as \`short_code_taken\`. Those of plans and quotas also have a \`code\` in the body.

**Lists** take \`page\` (from 1) and \`limit\` (1 to 100, default 20) and answer \`{data, total, page, limit}\`.

**Bodies** are JSON of at most 256 KiB. Beyond their schemas: lengths count UTF-16 code units, as JavaScript does; texts and keys hold no U+0000 and no half of a surrogate pair; no key is \`__proto__\`; nothing is nested deeper than 64 levels. Descriptions of fields name further rules.

**Limits** count in sliding windows. A 429 names the wait in whole seconds in its \`message\` alone, not in a header: "Rate limit exceeded. Retry after N second(s)."

**Request ids**: \`X-Request-Id\` of up to 128 visible ASCII characters is echoed; otherwise one is generated. \`HEAD\` answers like \`GET\`, without a body.`;

const securitySchemes = {
	serverKey: {type: 'http', scheme: 'bearer', description: 'A SERVER API key, `opl_api_…`.'},
	clientKey: {type: 'http', scheme: 'bearer', description: 'A CLIENT API key, `opl_sdk_…`, which apps may hold.'},
	adminToken: {type: 'http', scheme: 'bearer', description: 'The operator’s token, ADMIN_TOKEN.'},
	session: {type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A session of the identity provider.'},
	identityProviderSignature: {
		type: 'apiKey',
		in: 'header',
		name: 'svix-signature',
		description: 'Over `svix-id`, `svix-timestamp` and the body, with IDP_WEBHOOK_SECRET.',
	},
	gatewayASignature: {
		type: 'apiKey',
		in: 'header',
		name: 'Stripe-Signature',
		description: 'Over the body, with STRIPE_WEBHOOK_SECRET.',
	},
	gatewayBSignature: {
		type: 'apiKey',
		in: 'query',
		name: 'hmac',
		description: 'Over the callback’s values, with PAYMOB_HMAC_SECRET.',
	},
};

const STATUSES = [400, 401, 402, 403, 404, 408, 409, 410, 413, 415, 422, 428, 429, 500, 502, 503];

const refusals = (schema: JsonSchema) =>
	Object.fromEntries(
		STATUSES.map((status) => [
			refusalName(status),
			{
				description: STATUS_CODES[status] ?? '',
				headers: {
					'X-Request-Id': {$ref: '#/components/headers/X-Request-Id'},
					'X-Error-Code': {$ref: '#/components/headers/X-Error-Code'},
				},
				content: {'application/json': {schema}},
			},
		]),
	);

/**
 * The document of the whole API (contract/operations 3), from the validating schemas.
 * @throws for a schema that cannot be described.
 */
export const openApiDocument = (
	routes: readonly DeclaredRoute[],
	{publicUrl, linkUrl, version}: {publicUrl: string; linkUrl: string; version: string},
): OpenApiDocument => {
	const schemas: Record<string, JsonSchema> = {};
	const error = toJsonSchema(errorAnswer, {components: schemas, of: 'answer'});
	const paths: OpenApiDocument['paths'] = {};
	for (const route of routes) {
		const path = templateOf(route.path);
		paths[path] = {...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas, linkUrl)};
	}

	const requestId = {description: 'The caller’s, or a generated UUID.', schema: {type: 'string'}};
	const errorCode = {description: 'The name of the refusal, such as `short_code_taken`.', schema: {type: 'string'}};
	return {
		openapi: '3.1.0',
		info: {title: 'Oplink', version, description, license: {name: 'MIT', identifier: 'MIT'}},
		servers: [{url: publicUrl}],
		tags: [...tags],
		paths,
		components: {
			schemas,
			responses: refusals(error),
			headers: {'X-Request-Id': requestId, 'X-Error-Code': errorCode},
			securitySchemes,
		},
	};
};

import {STATUS_CODES} from 'node:http';
import Joi from 'joi';
import {answerOf, instant, text} from '../http/answer.ts';
import type {Route} from '../http/route.ts';
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

const description = `Deep links that you host yourself.

**Errors** all have one envelope, the schema \`Error\`: \`statusCode\`, \`error\`, \`message\`, \`details\` (a line per wrong field, of 400 alone), \`timestamp\`, \`path\` and \`requestId\`; what a program has to tell apart has a \`code\` too.

**Lists** take \`page\` (from 1) and \`limit\` (1 to 100, 20 unless said) and answer \`{data, total, page, limit}\`.

**Bodies** are JSON of at most 256 KiB. What their schemas cannot say: lengths count UTF-16 code units, as JavaScript does; texts and keys hold no U+0000 and no half of a surrogate pair; no key is \`__proto__\`; nothing is nested deeper than 64 levels. Rules of single fields stand in their descriptions.

**Limits** count in sliding windows. A 429 has no headers for it: the wait, in whole seconds, stands in its \`message\`, "Rate limit exceeded. Retry after N second(s)."

**Request ids**: \`X-Request-Id\` of up to 128 visible ASCII characters is echoed, else one is made. \`HEAD\` answers as \`GET\` does, without a body.`;

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
				headers: {'X-Request-Id': {$ref: '#/components/headers/X-Request-Id'}},
				content: {'application/json': {schema}},
			},
		]),
	);

/**
 * The document of the whole API (contract/operations 3), from the validating schemas.
 * @throws for a schema that cannot be described.
 */
export const openApiDocument = (
	routes: readonly Route[],
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
	return {
		openapi: '3.1.0',
		info: {title: 'Oplink', version, description, license: {name: 'MIT', identifier: 'MIT'}},
		servers: [{url: publicUrl}],
		tags: [...tags],
		paths,
		components: {
			schemas,
			responses: refusals(error),
			headers: {'X-Request-Id': requestId},
			securitySchemes,
		},
	};
};

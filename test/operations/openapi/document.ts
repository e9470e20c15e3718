import crypto from 'node:crypto';
import {gunzipSync} from 'node:zlib';
import test from 'ava';
import Joi from 'joi';
import {type OpenApiDocument, openApiDocument} from '../../../src/operations/openapi/document.ts';
import {toJsonSchema} from '../../../src/operations/openapi/json-schema.ts';
import {type Operation, templateOf} from '../../../src/operations/openapi/operation.ts';
import {routes} from '../../../src/routes.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const ours = {publicUrl: 'https://api.acme.test', linkUrl: 'https://go.acme.test', version: '1.2.3'};
const document: OpenApiDocument = JSON.parse(JSON.stringify(openApiDocument(routes, ours)));

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => ({path, method, operation, name: `${method} ${path}`})),
);

/** Every object of the document that is or contains a schema, with its location. */
const walk = (value: unknown, at: string, visit: (node: Record<string, unknown>, at: string) => void): void => {
	if (typeof value === 'object' && value !== null) {
		if (!Array.isArray(value)) {
			visit(value as Record<string, unknown>, at);
		}

		for (const [key, item] of Object.entries(value)) {
			walk(item, `${at}/${key}`, visit);
		}
	}
};

const declared = (operation: Operation, place: string): string[] =>
	(operation.parameters ?? []).filter((one) => one.in === place).map(({name}) => name);

test('every route of the table is an operation, and nothing else is', (t) => {
	const found = operations.map(({name}) => name).toSorted();
	t.deepEqual(found, routes.map(({method, path}) => `${method.toLowerCase()} ${templateOf(path)}`).toSorted());
});

test('the document names its OpenAPI version and has all required parts', (t) => {
	t.like(document, {openapi: '3.1.0', info: {title: 'Oplink', version: '1.2.3'}});
	t.deepEqual(document.servers, [{url: ours.publicUrl}]);
	t.deepEqual(Object.keys(document), ['openapi', 'info', 'servers', 'tags', 'paths', 'components']);
	const known = ['operationId', 'tags', 'summary', 'description', 'servers', 'security', 'parameters'];
	for (const {operation, name} of operations) {
		const unknown = Object.keys(operation).filter((key) => ![...known, 'requestBody', 'responses'].includes(key));
		t.deepEqual(unknown, [], name);
	}
});

test('an operation has a unique name, a summary, and a described tag', (t) => {
	const names = operations.map(({operation}) => operation.operationId);
	t.deepEqual(names, [...new Set(names)]);
	const tags = document.tags.map(({name}) => name);
	for (const {operation, name} of operations) {
		t.regex(operation.operationId, /^[a-z][A-Za-z0-9]+$/, name);
		t.regex(operation.summary, /^[A-Z][^.]+$/, name);
		t.is(operation.tags.length, 1, name);
		t.true(tags.includes(operation.tags[0] ?? ''), name);
	}

	const found = tags.filter((tag) => !operations.some(({operation}) => operation.tags.includes(tag)));
	t.deepEqual(found, []);
});

test('every reference leads somewhere', (t) => {
	const places = new Set<string>();
	walk(document, '#', (_, at) => places.add(at));
	walk(document, '#', ({$ref}, at) => {
		if ($ref !== undefined) {
			t.true(places.has(String($ref)), `${at}: ${$ref}`);
		}
	});
});

test('the parameters of a path are those in its template, each once', (t) => {
	for (const {path, operation, name} of operations) {
		const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one);
		t.deepEqual(declared(operation, 'path'), inTemplate, name);
		const parameters = operation.parameters ?? [];
		const all = parameters.map((one) => `${one.in} ${one.name}`);
		t.deepEqual(all, [...new Set(all)], name);
		t.false(
			parameters.some((one) => one.in === 'path' && one.required !== true),
			name,
		);
	}
});

/** An optional empty body: a client sends none. */
const emptyBodies = ['cancel', 'resume', 'renew', 'portal-session'].map((name) => `post /portal/billing/${name}`);

test('an operation says how it succeeds, and every way in which it can refuse', (t) => {
	for (const {operation, name} of operations) {
		const statuses = Object.keys(operation.responses);
		t.regex(statuses.join(), name === 'get /' ? /302/ : /\b2\d\d/, name);
		t.regex(statuses.join(), /404.*500.*503/, name);
		t.is(operation.security.length > 0 && operation.tags[0] !== 'Webhooks', statuses.includes('401'), name);
		t.is(operation.description?.includes('At most') ?? false, statuses.includes('429'), name);
		t.is(operation.requestBody !== undefined || emptyBodies.includes(name), statuses.includes('413'), name);
		t.false(name.startsWith('get ') && operation.requestBody !== undefined, name);
	}
});

test('a credential is one of the security schemes, and each of them is used', (t) => {
	const used = new Set(operations.flatMap(({operation}) => operation.security.flatMap((one) => Object.keys(one))));
	t.deepEqual([...used].toSorted(), Object.keys(document.components.securitySchemes).toSorted());
	t.deepEqual(document.paths['/links']?.['post']?.security, [{serverKey: []}]);
	t.deepEqual(document.paths['/match']?.['post']?.security, []);
});

test('a schema has only keywords of JSON Schema, each with a valid value', (t) => {
	const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
	walk(document.components.schemas, '', (node, at) => {
		const {type, required, properties, pattern} = node;
		if (at.endsWith('/properties') || type === undefined || (typeof type === 'object') === !Array.isArray(type)) {
			return;
		}

		const unknown = [type].flat().filter((one) => !types.includes(String(one)));
		const missing = [required ?? []].flat().filter((name) => !Object.hasOwn(properties ?? {}, String(name)));
		t.deepEqual([unknown, missing], [[], []], at);
		t.notThrows(() => new RegExp(String(pattern ?? '')), at);
	});
});

test('required fields and types of a body equal those of the validating schema', (t) => {
	const {schema} = document.paths['/sdk/events']?.['post']?.requestBody?.content['application/json'] ?? {};
	const {properties, required, ...rest} = schema as {properties: Record<string, unknown>; required: string[]};
	t.deepEqual(required, ['deviceId', 'eventName']);
	t.deepEqual(properties['deviceId'], {type: 'string', minLength: 8, maxLength: 100});
	t.like(properties['occurredAt'], {type: ['string', 'null'], format: 'date-time'});
	t.like(properties['properties'], {type: ['object', 'null'], additionalProperties: true});
	t.deepEqual(rest, {type: 'object'});
});

test('the example of a body is one that its route takes', (t) => {
	const context = {linkDomain: 'go.acme.test'};
	for (const {method, path, schemas} of routes) {
		const {body} = schemas;
		if (body === null || body === 'stream') {
			continue;
		}

		const content = document.paths[templateOf(path)]?.[method.toLowerCase()]?.requestBody?.content['application/json'];
		const {error} = body.validate(content?.example, {convert: false, context});
		t.is(error?.message, undefined, `${method} ${path}`);
	}
});

test('a rule without a translation stops the document, so that it never says too little', (t) => {
	const target = {components: {}, of: 'request'} as const;
	for (const [schema, message] of [
		[Joi.string().custom(String), /the rule custom/],
		[Joi.string().creditCard(), /the rule creditCard/],
		[Joi.string().pattern(/a/i), /no flags/],
		[Joi.object({a: Joi.any()}).xor('a', 'b'), /xor/],
		[Joi.date(), /date/],
	] as const) {
		t.throws(() => toJsonSchema(schema, target), {message});
	}
});

test('null, defaults and names are written as in JSON Schema', (t) => {
	const components = {};
	const named = Joi.object({a: Joi.number().allow(null).default(1)}).meta({name: 'Named'});
	t.deepEqual(toJsonSchema(Joi.array().items(named.allow(null)).max(2), {components, of: 'answer'}), {
		type: 'array',
		items: {anyOf: [{$ref: '#/components/schemas/Named'}, {type: 'null'}]},
		maxItems: 2,
	});
	t.deepEqual(components, {Named: {type: 'object', properties: {a: {type: ['number', 'null'], default: 1}}}});
	t.deepEqual(toJsonSchema(Joi.valid('a', 'b').allow(null), {components, of: 'answer'}), {
		type: ['string', 'null'],
		enum: ['a', 'b', null],
	});
});

const service = serviceOf(test, {PUBLIC_URL: ours.publicUrl, LINK_DOMAIN: 'go.acme.test'});

test('GET /openapi.json is the document of this server', async (t) => {
	const {status, headers, body} = await anonymous(service).get('/openapi.json');
	t.is(status, 200);
	t.is(headers['content-type'], 'application/json; charset=utf-8');
	t.deepEqual([body.openapi, body.servers], ['3.1.0', [{url: ours.publicUrl}]]);
	t.deepEqual(body.paths['/{orgKey}/{shortCode}'].get.servers, [{url: ours.linkUrl}]);
});

test('GET /docs is one file, and its style and its script are those that its policy names', async (t) => {
	const {status, headers, text} = await anonymous(service).get('/docs');
	t.is(status, 200);
	t.is(headers['content-type'], 'text/html; charset=utf-8');
	const policy = String(headers['content-security-policy']);
	for (const name of ['style', 'script']) {
		const [own, ...others] = [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))];
		t.deepEqual(others, []);
		const hash = crypto.hash('sha256', own?.[1] ?? '', 'base64');
		t.true(policy.includes(`; ${name}-src 'sha256-${hash}'; `), name);
	}

	t.true(policy.startsWith("default-src 'none'; "));
	t.notRegex(policy, /unsafe|https?:/);
	const markup = text.replaceAll(/<(style|script)>.*?<\/\1>/gs, '');
	t.notRegex(markup, /<script|<style|<iframe|<img|style="|\son\w+="/);
	const urls = [...markup.matchAll(/(?:href|src)="([^"#][^"]*)"/g)].map(([, url]) => url);
	t.deepEqual(urls.toSorted(), ['/openapi.json', 'data:,']);
});

test('neither is served on a link domain', async (t) => {
	const caller = anonymous(service);
	for (const path of ['/openapi.json', '/docs']) {
		t.like(await caller.get(path, {Host: 'go.acme.test'}), {status: 404, body: {message: 'Not found'}});
	}
});

for (const path of ['/openapi.json', '/docs']) {
	test(`${path} is sent compressed, once, and then as 304`, async (t) => {
		const caller = anonymous(service);
		const plain = await caller.get(path);
		const small = await caller.get(path, {'Accept-Encoding': 'br, gzip;q=0.5'});
		t.deepEqual([small.headers['content-encoding'], plain.headers['content-encoding']], ['gzip', undefined]);
		t.true(gunzipSync(small.bytes).equals(plain.bytes));
		t.is((await caller.get(path, {'Accept-Encoding': 'gzip;q=0'})).headers['content-encoding'], undefined);
		const {etag, vary} = plain.headers;
		t.deepEqual([small.headers['etag'], vary], [etag, 'Accept-Encoding']);
		const known = await caller.get(path, {'If-None-Match': `"other", ${etag}`});
		t.deepEqual([known.status, known.text, known.headers['etag']], [304, '', etag]);
		t.is((await caller.get(path, {'If-None-Match': '"other"'})).status, 200);
	});
}

test('both share a limit of ten a second and address', async (t) => {
	const caller = anonymous(service);
	const asked = Array.from({length: 12}, (_, index) => caller.head(index % 2 === 0 ? '/docs' : '/openapi.json'));
	const statuses = (await Promise.all(asked)).map(({status}) => status);
	t.is(statuses.filter((status) => status === 429).length, 2);
	t.is((await anonymous(service).head('/docs')).status, 200);
});

import {STATUS_CODES} from 'node:http';
import Joi from 'joi';
import type {Limit} from '../../platform/config/limits.ts';
import {required} from '../../platform/errors.ts';
import type {Credential} from '../../platform/http/admission.ts';
import type {Answer} from '../../platform/http/answer.ts';
import type {DeclaredRoute} from '../../platform/http/route.ts';
import {fieldsOf, type JsonSchema, type Target, toJsonSchema} from './json-schema.ts';
import {sampleOf} from './sample.ts';
import {tagOf} from './tags.ts';

export type Parameter = {
	name: string;
	in: 'path' | 'query' | 'header';
	required?: true;
	description?: string;
	schema: JsonSchema;
};
type Content = Record<string, {schema: JsonSchema; example?: unknown}>;
export type Response = {$ref: string} | {description: string; headers?: object; content?: Content};

export type Operation = {
	operationId: string;
	tags: string[];
	summary: string;
	description?: string;
	servers?: Array<{url: string}>;
	security: Array<Record<string, string[]>>;
	parameters?: Parameter[];
	requestBody?: {required: boolean; content: Content};
	responses: Record<string, Response>;
};

/** `/links/:id` as OpenAPI writes it: `/links/{id}`. */
export const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `GET /links/:id/qr.svg` as `getLinksByIdQrSvg`. */
const operationId = ({method, path}: DeclaredRoute): string => {
	const words = path
		.split('/')
		.filter((segment) => segment !== '')
		.map((segment) => (segment.startsWith(':') ? `by-${segment.slice(1)}` : segment));
	const name = words
		.flatMap((word) => word.split(/[^A-Za-z0-9]+/))
		.map(capital)
		.join('');
	return method.toLowerCase() + name;
};

/** The name of the security scheme of a route; null for none. */
const schemeOf = ({credential, declared, path}: DeclaredRoute): string | null => {
	switch (credential) {
		case 'none':
			return null;
		case 'user':
		case 'session':
		case 'ops':
			return 'session';
		case 'admin':
			return 'adminToken';
		case 'signature':
			return required(declared.signature, () => new Error(`${path} does not name its signer`));
		default:
			return credential;
	}
};

/** The refusals of a credential (contract/requests 9, contract/requests 8). */
const credentialRefusals: Record<Credential, number[]> = {
	none: [],
	user: [401, 502],
	session: [401, 403, 502],
	ops: [401, 403, 502],
	serverKey: [401, 403],
	clientKey: [401, 403],
	admin: [401, 403],
	signature: [400, 408, 413, 415],
};

/**
 * Every status that a route can refuse with. 404 is also the answer on other hosts; 500 and 503 apply to all routes.
 */
const refusalsOf = ({credential, limit, schemas, declared}: DeclaredRoute): number[] => {
	const body = declared.accepts !== undefined || schemas.body !== null ? [400, 408, 413, 415] : [];
	const values = schemas.params !== null || schemas.query !== null ? [400] : [];
	const all = [
		...credentialRefusals[credential],
		...(limit === null ? [] : [429]),
		...body,
		...values,
		...(declared.refusals ?? []),
		404,
		500,
		503,
	];
	return [...new Set(all)].toSorted((a, b) => a - b);
};

/** The key of the shared response of a refusal, such as `NotFound`. */
export const refusalName = (status: number): string => (STATUS_CODES[status] ?? String(status)).replaceAll(/\W/g, '');

const requestIdHeader = {'X-Request-Id': {$ref: '#/components/headers/X-Request-Id'}};

const responseOf = (status: number, answer: Answer, target: Target): Response => {
	const description = STATUS_CODES[status] ?? 'Success';
	if (answer === null) {
		return {description, headers: requestIdHeader};
	}

	if (Joi.isSchema(answer)) {
		return {
			description,
			headers: requestIdHeader,
			content: {'application/json': {schema: toJsonSchema(answer, target)}},
		};
	}

	if (answer.lines !== undefined) {
		toJsonSchema(answer.lines, target);
	}

	const content: Content = Object.fromEntries(answer.media.map((type) => [type, {schema: {type: 'string'}}]));
	if (answer.json !== undefined) {
		content['application/json'] = {schema: toJsonSchema(answer.json, target)};
	}

	return {description: answer.about, headers: requestIdHeader, content};
};

const responsesOf = (route: DeclaredRoute, target: Target): Record<string, Response> => {
	const {status, declared} = route;
	const answers = Object.entries({[status]: declared.answer, ...declared.otherAnswers});
	const described = Object.fromEntries(
		answers.map(([code, answer]) => [code, responseOf(Number(code), answer, target)]),
	);
	const refused = refusalsOf(route).map((code) => [code, {$ref: `#/components/responses/${refusalName(code)}`}]);
	return {...Object.fromEntries(refused), ...described};
};

const parametersOf = (route: DeclaredRoute, target: Target): Parameter[] => {
	const {path, schemas, declared, credential} = route;
	const inPath = new Map(schemas.params === null ? [] : fieldsOf(schemas.params, target).map((one) => [one.name, one]));
	const named = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
	// The query of a webhook is its signature, a security scheme.
	const query = schemas.query === null || credential === 'signature' ? [] : fieldsOf(schemas.query, target);
	const actsFor: Parameter[] =
		credential === 'session'
			? [
					{
						name: 'orgId',
						in: 'query',
						description: 'An ops session acts for this organization; ignored from others.',
						schema: {type: 'string', format: 'uuid'},
					},
				]
			: [];
	return [
		...named.map(
			(name): Parameter => ({name, in: 'path', required: true, schema: inPath.get(name)?.schema ?? {type: 'string'}}),
		),
		...query.map(
			({name, isRequired, schema}): Parameter => ({
				name,
				in: 'query',
				...(isRequired ? {required: true} : {}),
				schema,
			}),
		),
		...actsFor,
		...Object.entries(declared.headers ?? {}).map(
			([name, description]): Parameter => ({name, in: 'header', description, schema: {type: 'string'}}),
		),
	];
};

const bodyOf = ({schemas, declared, credential}: DeclaredRoute, target: Target): Operation['requestBody'] => {
	const asked = {...target, of: 'request' as const};
	if (declared.accepts !== undefined) {
		const content = Object.entries(declared.accepts).map(([type, body]) => [
			type,
			{schema: typeof body === 'string' ? {type: 'string', description: body} : toJsonSchema(body, asked)},
		]);
		return {required: true, content: Object.fromEntries(content)};
	}

	if (credential === 'signature') {
		const schema = {type: 'object', additionalProperties: true};
		return {required: true, content: {'application/json': {schema}}};
	}

	if (schemas.body === null || schemas.body === 'stream') {
		return undefined;
	}

	const schema = toJsonSchema(schemas.body, asked);
	if (schema['properties'] === undefined && schema['additionalProperties'] === false) {
		// The body can only be empty.
		return undefined;
	}

	const isRequired = 'required' in schema || 'allOf' in schema;
	const example = sampleOf(schema, target.components);
	return {required: isRequired, content: {'application/json': {schema, example}}};
};

const subjects = {ip: 'address', key: 'API key', device: 'device'};
const seconds: Record<number, string> = {1: 'second', 60: 'minute', 3600: 'hour'};

const largerThan = ({aboveBytes}: Limit): string =>
	aboveBytes === undefined ? '' : ` with a body of more than ${aboveBytes / 1024} KiB`;

const descriptionOf = ({declared, role, credential, limit, cors}: DeclaredRoute): string => {
	const sentences = [
		declared.description,
		role === null ? null : `Required role: ${role}.`,
		credential === 'ops' ? 'For the ops organization only.' : null,
		limit === null
			? null
			: `At most ${limit.max} requests${largerThan(limit)} per ${seconds[limit.windowSeconds]} and ${subjects[limit.per]}, over all operations of the limit \`${limit.name}\`.`,
		cors ? 'Any origin may call it.' : null,
	];
	return sentences.filter((sentence) => sentence !== null && sentence !== undefined).join(' ');
};

/** A route as OpenAPI describes it. @throws Error for a schema that cannot be described. */
export const operationOf = (route: DeclaredRoute, components: Target['components'], linkUrl: string): Operation => {
	const scheme = schemeOf(route);
	const description = descriptionOf(route);
	const parameters = parametersOf(route, {components, of: 'request'});
	const requestBody = bodyOf(route, {components, of: 'request'});
	return {
		operationId: operationId(route),
		tags: [tagOf(route.path)],
		summary: route.declared.summary,
		...(description === '' ? {} : {description}),
		...(route.declared.onLinkDomain === true ? {servers: [{url: linkUrl}]} : {}),
		security: scheme === null ? [] : [{[scheme]: []}],
		...(parameters.length === 0 ? {} : {parameters}),
		...(requestBody === undefined ? {} : {requestBody}),
		responses: responsesOf(route, {components, of: 'answer'}),
	};
};

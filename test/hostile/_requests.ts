import fc from 'fast-check';
import type {Operation, Parameter} from '../../src/operations/openapi/operation.ts';
import {document} from '../setup/documented.ts';
import {type Body, bodiesOf} from './_bodies.ts';
import {fieldValue, hostileStrings, known} from './_values.ts';

/** A generated request; texts contain the names that `_world.ts` replaces. */
export type Request = {
	operation: string;
	method: string;
	path: string;
	/** The name of the credential in the world. */
	credential: string;
	headers: Record<string, string>;
	body: Body;
};

/** The usual value, `weight` to one, else one of the odd values. */
const mostly = <T>(weight: number, usual: fc.Arbitrary<T>, ...odd: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
	fc.oneof({weight, arbitrary: usual}, ...odd.map((arbitrary) => ({weight: 1, arbitrary})));

/** Percent-encoding that accepts lone surrogates, which browsers never send but any caller can. */
const encode = (value: unknown): string => {
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return [...(text ?? '')]
		.map((character) => {
			if (/[«»\w:-]/.test(character)) {
				return character;
			}

			const code = character.charCodeAt(0);
			return character.isWellFormed()
				? encodeURIComponent(character)
				: `%ED%${(0x80 | ((code >> 6) & 0x3f)).toString(16)}%${(0x80 | (code & 0x3f)).toString(16)}`;
		})
		.join('');
};

const rawParts = ['%', '%zz', '%00', '%ff', '%ED%A0%80', '%2f..%2f', '%C0%AE', ';', '+', '[]', '%EF%BF%BF'];
/** @param path the segment before an `{id}` determines its type. */
const pathPart = ({schema, name}: Parameter, path: string): fc.Arbitrary<string> => {
	const type = /(\w+)\/\{id\}/.exec(name === 'id' ? path : '')?.[1] ?? name;
	return mostly(20, fieldValue(schema, type).map(encode), fc.constantFrom(...rawParts));
};

const queryPart = ({schema, name}: Parameter): fc.Arbitrary<string> =>
	mostly(
		12,
		fieldValue(schema, name).map((value) => `${name}=${encode(value)}`),
		fc.constantFrom(...rawParts).map((part) => `${name}=${part}`),
		fc.constantFrom(`${name}=1&${name}=2`, `${name}[]=1`, `${name}[a]=1`, name),
	);

/** A query close to the limit of Node's request head, as slow to parse as possible. */
const longQueries = [
	'a&'.repeat(7000),
	Array.from({length: 2000}, (_, index) => `k${index}=`).join('&'),
	'orgId=x&'.repeat(1800),
	'deviceId=x&'.repeat(1300),
	'%00='.repeat(3500),
	`a=${'%F0%9F%98%80'.repeat(1150)}`,
	'+'.repeat(14_000),
	`domain=${'a.'.repeat(7000)}`,
	`hmac=${'0'.repeat(14_000)}`,
	`q=${'%25'.repeat(4500)}`,
];

const strayQueries = [
	...['__proto__=1', 'constructor=x', '%00=%00', '%ff=%ff', '&&&', '=', '%', 'orgId=x', 'a=1&'.repeat(500)],
	...longQueries,
];

/** Octets of a header: what Node sends as latin1. */
const octets = fc.oneof(
	fc.constantFrom(
		...hostileStrings.map((text) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?').slice(0, 2000)),
		...['\xff\xfe', 'a'.repeat(6000), ',,,;;;', '*', '"', 'é'],
	),
	fc.string({unit: 'binary-ascii', maxLength: 30}).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
);

/** Headers that are slow for a regular expression or a repeated list search. */
const longTexts = [
	...[
		't=1,',
		'v1,x ',
		' ',
		'a,',
		'a;q=0.1,',
		';',
		'; oplink_visitor=',
		'"',
		'"x", ',
		'10.0.0.1, ',
		'[::1]:',
		'Version/ ',
	],
	...['Mozilla/5.0 (Linux; Android 1; ', 'a.', '/', '1:1:', 'https://', '%', '-', 'Bearer '],
]
	.map((part) => part.repeat(14_000 / part.length))
	.concat(`t=1,${'v1=0,'.repeat(2800)}`, `x${' '.repeat(13_900)}x`, `1:${'9'.repeat(18)}:${'1,'.repeat(6900)}`);
const octetHeaders = [
	'Accept Accept-Language CF-IPCountry Cookie Idempotency-Key If-None-Match Last-Event-ID Origin Referer',
	'Sec-CH-Timezone Sec-CH-UA-Model Stripe-Signature User-Agent X-API-Key X-Forwarded-Host X-Forwarded-Proto',
	'X-Request-Id svix-id svix-signature svix-timestamp',
].flatMap((names) => names.split(' '));
const readHeaders = octetHeaders.concat([
	'Authorization',
	'Content-Type',
	'Forwarded',
	'Host',
	'Sec-CH-UA-Platform-Version',
	'Sec-Purpose',
	'X-Forwarded-For',
]);
const longHeader = fc
	.tuple(fc.constantFrom(...readHeaders), fc.constantFrom(...longTexts))
	.map(([name, text]): Record<string, string> => ({[name]: text}));

const hosts = ['evil.example', 'localhost', '127.0.0.1', '[::1]', 'a'.repeat(300), 'go.acme.test', '..', 'x:99999'];
const oddHeaders = fc
	.record(
		{
			...Object.fromEntries([...octetHeaders, 'Sec-GPC'].map((name) => [name, octets])),
			'X-API-Key': fc.oneof(octets, fc.constant(known('clientKey'))),
			'Idempotency-Key': fc.oneof(octets, fc.constantFrom('one', 'two')),
			'X-Forwarded-Host': fc.oneof(octets, fc.constantFrom('evil.example', 'localhost', 'go.acme.test')),
			'X-HTTP-Method-Override': fc.constant('DELETE'),
			Host: fc.constantFrom(...hosts),
		},
		{requiredKeys: []},
	)
	.chain((all) => fc.shuffledSubarray(Object.entries(all), {maxLength: 6}))
	.map((some) => Object.fromEntries(some) as Record<string, string>);
const headers = mostly(8, fc.constant<Record<string, string>>({}), longHeader, oddHeaders);

const mediaTypes = [
	...[
		'application/json; charset=utf-16',
		'application/merge-patch+json',
		'text/plain',
		'application/x-ndjson',
		'',
		'/',
	],
	...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'application/json, text/html'],
];
const methods = ['HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'PUT', 'DELETE', 'QUERY'];
const credentials = ['none', 'serverKey', 'clientKey', 'adminToken', 'session', 'odd'];

const requestOf = (path: string, method: string, operation: Operation): fc.Arbitrary<Request> => {
	const parameters = operation.parameters ?? [];
	const inPath = parameters.filter((one) => one.in === 'path');
	const inQuery = parameters.filter((one) => one.in === 'query');
	const right = Object.keys(operation.security[0] ?? {})[0] ?? 'none';
	return fc
		.record({
			method: mostly(30, fc.constant(method.toUpperCase()), fc.constantFrom(...methods)),
			path: fc.tuple(...inPath.map((one) => pathPart(one, path))),
			query: fc.tuple(...inQuery.map((one) => fc.oneof(fc.constant(''), queryPart(one)))),
			stray: mostly(10, fc.constant(''), fc.constantFrom(...strayQueries)),
			credential: mostly(14, fc.constant(right), fc.constantFrom(...credentials)),
			odd: headers,
			type: mostly(14, fc.constant('application/json'), fc.constantFrom(...mediaTypes)),
			encoding: mostly(25, fc.constant(''), fc.constantFrom('gzip', 'br', 'x', 'identity')),
			body: bodiesOf(path, operation),
		})
		.map(({method: verb, path: parts, query, stray, credential, odd, type, encoding, body}) => {
			const concrete = inPath.reduce(
				(text, {name}, index) => text.replace(`{${name}}`, () => parts[index] || '-'),
				path,
			);
			const search = [...query, stray].filter((one) => one !== '').join('&');
			const streamed = path.endsWith('/import') && type === 'application/json' ? 'application/x-ndjson' : type;
			return {
				operation: `${method.toUpperCase()} ${path}`,
				method: verb,
				path: search === '' ? concrete : `${concrete}?${search}`,
				credential,
				headers: {
					...odd,
					...(body === null ? {} : {'Content-Type': streamed}),
					...(encoding === '' ? {} : {'Content-Encoding': encoding}),
				},
				body,
			};
		});
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => requestOf(path, method, operation)),
);

/** `count` requests over all operations, the same for the same seed. */
export const requestsOf = (seed: number, count: number): Request[] =>
	fc.sample(fc.oneof(...operations), {seed, numRuns: count});

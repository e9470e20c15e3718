import fc from 'fast-check';
import type {JsonSchema} from '../../src/operations/openapi/json-schema.ts';
import {valuesOf} from '../operations/openapi/_fitting.ts';

/** `«name»` in a generated text is replaced by the request's world, `«raw:x»` by the JSON text x. */
export const known = (name: string): string => `«${name}»`;
const raw = (text: string): string => `«raw:${text}»`;

const repeated = {a: [65, 256, 2049, 20_000], 𝒳: [60], 'e\u0301': [300], ﷺ: [100]};
export const hostileStrings: readonly string[] = [
	...['', ' ', '\0', 'a\0b', '\ud800', '\udfff\ud800', 'a\ud83d', '\u202e\u2066', '%00%ff%', '\r\nSet-Cookie: a=b'],
	...Object.entries(repeated).flatMap(([text, counts]) => counts.map((count) => text.repeat(count))),
	...["' OR 1=1 --", '"; DROP TABLE links; --', '<script>alert(1)</script>', '{{constructor}}', '../../etc/passwd'],
	...['javascript:alert(1)', 'data:text/html,x', 'http://127.0.0.1:5432/', 'http://[::1]/', '//evil.example'],
	...['https://example.com:99999/', 'owner@example.com', '@', 'a@b', 'xn--', 'xn--80ak6aa92e.com', 'localhost'],
	...[
		'0000-00-00',
		'9999-12-31T23:59:59.999999999Z',
		'275760-09-13T00:00:00Z',
		'1970-01-01T00:00:00+14:00',
		'2026-02-29',
	],
	...['Infinity', 'NaN', 'null', 'true', '-1', '1e3', '9223372036854775808', '00000000-0000-0000-0000-000000000000'],
	...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'acme.example.com.', 'Europe/Berlin', '../UTC'],
	...['i-klingon', 'tlhIngan-Latn-x-private'],
];

const hostileNumbers = ['-1', '0', '-0', '1.5', '1e308', '1e999', '-1e999', '9007199254740993', '2147483648', '1e-400'];

const nested = (depth: number) => [
	raw(`${'['.repeat(depth)}${']'.repeat(depth)}`),
	raw(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
];

/** JSON values that no field accepts. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
	{weight: 6, arbitrary: fc.constantFrom(...hostileStrings)},
	{weight: 2, arbitrary: fc.constantFrom(...hostileNumbers.map(raw))},
	{weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {})},
	{weight: 1, arbitrary: fc.constantFrom(...nested(70), ...nested(5000))},
	{
		weight: 1,
		arbitrary: fc.constantFrom(raw('{"__proto__":{"isAdmin":true}}'), raw('{"constructor":{"prototype":{}}}')),
	},
	{weight: 1, arbitrary: fc.array(fc.constantFrom(...hostileStrings), {maxLength: 200})},
	{weight: 1, arbitrary: fc.string({unit: 'binary', maxLength: 40})},
	{weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...hostileStrings), fc.constantFrom(...hostileStrings))},
	{weight: 1, arbitrary: fc.jsonValue({maxDepth: 4})},
);

/** What the world has for fields of these names, or for an `{id}` behind them. */
const ids: Record<string, string[]> = {
	links: ['linkId'],
	templates: ['templateId'],
	channels: ['channelId'],
	domains: ['domainId'],
	matches: ['matchId'],
	orgId: ['organizationId', 'orgKey'],
	clipboardToken: ['token'],
	installReferrer: ['token'],
	...Object.fromEntries(
		['linkId', 'templateId', 'domainId', 'userId', 'orgKey', 'shortCode', 'deviceId', 'token', 'channel'].map(
			(name) => [name, [name]],
		),
	),
};

/** Texts similar to match tokens, or containing one. */
const oddTokens = [
	...['9bbc_', '../..', 'opl_', 'opl_'.repeat(24), `referrer=${known('token')}&a=b`, `${known('token')}x`],
	...['x'.repeat(32), 'x'.repeat(31), '-'.repeat(32), 'é'.repeat(32)].map((rest) => `opl_${rest}`),
];

/** Values for fields of these names, whose schemas alone would allow little variety. */
const samples: Record<string, unknown[]> = {
	token: oddTokens,
	clipboardToken: oddTokens,
	installReferrer: oddTokens,
	plan: ['STARTER', 'SOLO', 'growth', 'SCALE', 'ENTERPRISE', null],
	timezone: ['Europe/Berlin', 'UTC', 'Asia/Kathmandu', 'Pacific/Apia'],
	from: ['2026-03-01', '2026-03-09T12:00:00Z', '1970-01-01', '9999-12-31'],
	to: ['2026-03-11', '2026-03-10T12:00:00+05:45', '2026-03-10'],
	hostname: ['go.example.com', 'münchen.example', 'GO.Example.COM.', 'xn--mnchen-3ya.example'],
	bundleId: ['com.acme.shop'],
	teamId: ['ABCDE12345', 'abcde12345'],
	appStoreId: ['123456789'],
	scheme: ['acmeshop', 'javascript', 'https'],
	packageName: ['com.acme.shop', 'com.acme.other'],
	sha256Fingerprints: [['ab'.repeat(32)], [`${'AB:'.repeat(31)}AB`, 'cd'.repeat(32)]],
	name: ['Acme', 'acme', 'É'.repeat(50)],
	email: ['someone@example.com', 'SOMEONE@example.com'],
	fallbackUrl: ['https://acme.example/sale?a=1#b', 'https://münchen.example/%7Ea/../b', 'http://acme.example:8080'],
	expiry: ['2026-03-10T12:00:30Z', '2099-01-01T00:00:00+14:00', '2026-03-01'],
	language: ['en-US', 'zh-Hant-TW', 'tlh'],
	osVersion: ['17.5.1', '14'],
	deviceModel: ['Pixel 8', 'iPhone15,2'],
	page: ['1', '2', '1000000000000'],
};

/** Whether a value matches its schema completely, or may be hostile at any depth. */
type Care = {isClean: boolean};

const stray = fc.dictionary(fc.oneof(fc.string({maxLength: 10}), fc.constantFrom(...hostileStrings)), hostile, {
	maxKeys: 2,
});

const objectOf = (schema: JsonSchema, care: Care): fc.Arbitrary<unknown> => {
	const fields = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
	const required = new Set([...((schema['required'] ?? []) as string[]), 'path']);
	const values = fields.map(([name, field]) =>
		fc
			.tuple(fc.nat(99), fieldValue(field, name, care))
			.map(([chance, value]): [string, unknown][] => (chance < (required.has(name) ? 97 : 40) ? [[name, value]] : [])),
	);
	return fc.tuple(fc.tuple(...values), fc.nat(9), stray).map(([pairs, chance, others]) => ({
		...Object.fromEntries(pairs.flat()),
		...((chance === 0 && !care.isClean) || fields.length === 0 ? others : {}),
	}));
};

/** Mostly valid values of a schema, whose parts are fields as well. */
const accepted = (schema: JsonSchema, care: Care): fc.Arbitrary<unknown> => {
	const {anyOf, items} = schema;
	if (Array.isArray(anyOf)) {
		return fc.oneof(...(anyOf as JsonSchema[]).map((one) => accepted(one, care)));
	}

	const types = [schema.type].flat();
	if (!types.includes('array') && !types.includes('object')) {
		return valuesOf(schema);
	}

	const parts = types.includes('array')
		? fc.array(fieldValue((items ?? {}) as JsonSchema, '', care), {maxLength: 4})
		: objectOf(schema, care);
	return types.includes('null') ? fc.option(parts, {freq: 5}) : parts;
};

/** A value for a field: valid, from the world if the name is known, or hostile. */
export const fieldValue = (schema: JsonSchema, name = '', care: Care = {isClean: false}): fc.Arbitrary<unknown> => {
	const names = ids[name] ?? [];
	return fc.oneof(
		{weight: 10, arbitrary: accepted(schema, care)},
		...(names.length === 0 ? [] : [{weight: 12, arbitrary: fc.constantFrom(...names.map(known))}]),
		...(samples[name] === undefined ? [] : [{weight: 12, arbitrary: fc.constantFrom(...samples[name])}]),
		...(care.isClean ? [] : [{weight: 2, arbitrary: hostile}]),
	);
};

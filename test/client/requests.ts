import test from 'ava';
import type {Oplink} from '../../src/client/oplink.ts';
import {faultyServer} from './_faulty-server.ts';

const occurredAt = new Date('2026-03-10T12:00:00.000Z');
const at = occurredAt.toISOString();

const credentials = {server: {authorization: 'Bearer opl_api_test'}, 'x-api-key': {'x-api-key': 'opl_sdk_test'}};

type Case = [`${keyof typeof credentials} ${string} ${string}`, (oplink: Oplink) => Promise<unknown>, body?: object];

const cases: Case[] = [
	['server POST /links', ({links}) => links.create({path: '/a', expiry: occurredAt}), {path: '/a', expiry: at}],
	['server GET /links', ({links}) => links.list()],
	['server GET /links?page=2&isActive=false&q=a%26b', ({links}) => links.list({page: 2, isActive: false, q: 'a&b'})],
	['server GET /links?q=a%20b', ({links}) => links.list({q: 'a b', tag: undefined})],
	['server GET /links/a%2Fb', ({links}) => links.get('a/b')],
	['server PATCH /links/1', ({links}) => links.update('1', {title: null}), {title: null}],
	['server DELETE /links/1', ({links}) => links.delete('1')],
	['x-api-key POST /match', (oplink) => oplink.match(), {}],
];

/** The other calls of apps: `sdk-vectors.json`. */
test('each call of links, and a match of nothing, sends its request with its credential, and gives the answer', async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 200, body: {answer: 'fine'}}]);
	for (const [expected, call, body] of cases) {
		t.deepEqual(await call(oplink), {answer: 'fine'});
		const {headers = {}, ...request} = requests.pop() ?? {};
		const [credential, method, url] = expected.split(' ') as [keyof typeof credentials, string, string];
		t.deepEqual(request, {method, url, body} as typeof request);
		t.deepEqual(requests, [], expected);
		const {authorization, 'x-api-key': apiKey} = {
			authorization: undefined,
			'x-api-key': undefined,
			...credentials[credential],
		};
		t.is(headers.authorization, authorization, expected);
		t.is(headers['x-api-key'], apiKey, expected);
		t.is(headers['content-type'], body === undefined ? undefined : 'application/json', expected);
	}
});

test("a caller's own Idempotency-Key is sent unchanged", async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 201}]);
	await oplink.links.create({path: '/sale'}, {idempotencyKey: 'order-17'});
	t.is(requests[0]?.headers['idempotency-key'], 'order-17');
});

test('a slash at the end of linkBaseUrl does not count', async (t) => {
	const {requests, baseUrl} = await faultyServer(t, [{status: 200}]);
	const links = await faultyServer(t, [{status: 200}], {linkBaseUrl: `${baseUrl}//`});
	await links.oplink.resolve('AbC4', 'sale');
	t.is(requests[0]?.url, '/AbC4/sale/data');
	t.deepEqual(links.requests, []);
});

import test from 'ava';
import {type Oplink, OplinkApiError, type OplinkOptions} from '../../src/client/oplink.ts';
import {faultyServer} from './_faulty-server.ts';

const deviceId = 'device-0001';
const occurredAt = new Date('2026-03-10T12:00:00.000Z');

const at = occurredAt.toISOString();
const event = {deviceId, eventName: 'signup', eventId: 'event-1'};
const options = {eventId: 'event-1', occurredAt, linkId: 'link-1'};

const credentials = {
	server: {authorization: 'Bearer opl_api_test'},
	client: {authorization: 'Bearer opl_sdk_test'},
	'x-api-key': {'x-api-key': 'opl_sdk_test'},
	none: {},
};

type Case = [`${keyof typeof credentials} ${string} ${string}`, (oplink: Oplink) => Promise<unknown>, body?: object];

const cases: Case[] = [
	['server POST /links', ({links}) => links.create({path: '/a', expiry: occurredAt}), {path: '/a', expiry: at}],
	['server GET /links', ({links}) => links.list()],
	['server GET /links?page=2&isActive=false&q=a%26b', ({links}) => links.list({page: 2, isActive: false, q: 'a&b'})],
	['server GET /links?q=a%20b', ({links}) => links.list({q: 'a b', tag: undefined})],
	['server GET /links/a%2Fb', ({links}) => links.get('a/b')],
	['server PATCH /links/1', ({links}) => links.update('1', {title: null}), {title: null}],
	['server DELETE /links/1', ({links}) => links.delete('1')],
	['none GET /AbC4/s/data', (oplink) => oplink.resolve('AbC4', 's')],
	['none GET /AbC4/%C3%BC%3F/data?deviceId=a%201', (oplink) => oplink.resolve('AbC4', 'ü?', {deviceId: 'a 1'})],
	['x-api-key POST /match', (oplink) => oplink.match({platform: 'iOS'}), {platform: 'iOS'}],
	['x-api-key POST /match', (oplink) => oplink.match(), {}],
	[
		'client POST /sdk/session',
		(oplink) => oplink.session({deviceId, appVersion: '1', sdkVersion: 'own/1'}),
		{deviceId, appVersion: '1', sdkVersion: 'own/1'},
	],
	[
		'client POST /sdk/identity',
		(oplink) => oplink.identify(deviceId, 'user-1', {plan: 'pro'}),
		{deviceId, externalUserId: 'user-1', traits: {plan: 'pro'}},
	],
	['client POST /sdk/identity/clear', (oplink) => oplink.clearIdentity(deviceId), {deviceId}],
	[
		'client POST /sdk/events',
		(oplink) => oplink.track(deviceId, 'signup', undefined, {eventId: 'event-1'}),
		{...event, properties: {}},
	],
	[
		'client POST /sdk/events',
		(oplink) => oplink.track(deviceId, 'signup', {step: 2}, options),
		{...event, properties: {step: 2}, occurredAt: at, linkId: 'link-1'},
	],
];

test('each call sends its request with the credential of its surface, and gives the answer', async (t) => {
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

const withoutKeys: Partial<OplinkOptions> = {clientKey: undefined, serverKey: undefined};

test('without the CLIENT key a call sends none, and is left for the server to refuse', async (t) => {
	const body = {statusCode: 401, message: 'Missing Authorization header'};
	const {oplink, requests} = await faultyServer(t, [{status: 401, body}], withoutKeys);
	for (const call of [() => oplink.clearIdentity(deviceId), () => oplink.match({deviceId})]) {
		await t.throwsAsync(call(), {instanceOf: OplinkApiError, message: body.message});
	}

	t.deepEqual(
		requests.map(({headers}) => [headers.authorization, headers['x-api-key']]),
		Array(2).fill([undefined, undefined]),
	);
});

test("a caller's own Idempotency-Key is sent unchanged", async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 201}]);
	await oplink.links.create({path: '/sale'}, {idempotencyKey: 'order-17'});
	t.is(requests[0]?.headers['idempotency-key'], 'order-17');
});

test('links resolve at linkBaseUrl, and all else at baseUrl, with or without a slash at the end', async (t) => {
	const api = await faultyServer(t, [{status: 200}]);
	const {oplink, requests} = await faultyServer(t, [{status: 200}], {
		baseUrl: `${api.baseUrl}/`,
	});
	await oplink.match({});
	t.is(api.requests[0]?.url, '/match');
	t.deepEqual(requests, []);

	const links = await faultyServer(t, [{status: 200}], {linkBaseUrl: `${api.baseUrl}//`});
	await links.oplink.resolve('AbC4', 'sale');
	await links.oplink.match({});
	t.is(api.requests[1]?.url, '/AbC4/sale/data');
	t.deepEqual(
		links.requests.map(({url}) => url),
		['/match'],
	);
});

import test from 'ava';
import {type Oplink, OplinkApiError, type OplinkOptions} from '../../src/client/oplink.ts';
import {faultyServer} from './_faulty-server.ts';

const deviceId = 'device-0001';
const occurredAt = new Date('2026-03-10T12:00:00.000Z');

type Expected = {method: string; url: string; body?: unknown; credential: 'server' | 'client' | 'x-api-key' | 'none'};

const cases: Array<[string, (oplink: Oplink) => Promise<unknown>, Expected]> = [
	[
		'links.create',
		({links}) => links.create({path: '/sale', expiry: occurredAt, og: {title: 'Sale'}}),
		{
			method: 'POST',
			url: '/links',
			body: {path: '/sale', expiry: '2026-03-10T12:00:00.000Z', og: {title: 'Sale'}},
			credential: 'server',
		},
	],
	['links.list', ({links}) => links.list(), {method: 'GET', url: '/links', credential: 'server'}],
	[
		'links.list with a query',
		({links}) => links.list({page: 2, isActive: false, q: 'a&b c', tag: undefined}),
		{method: 'GET', url: '/links?page=2&isActive=false&q=a%26b%20c', credential: 'server'},
	],
	['links.get', ({links}) => links.get('a/b'), {method: 'GET', url: '/links/a%2Fb', credential: 'server'}],
	[
		'links.update',
		({links}) => links.update('1', {title: null}),
		{method: 'PATCH', url: '/links/1', body: {title: null}, credential: 'server'},
	],
	['links.delete', ({links}) => links.delete('1'), {method: 'DELETE', url: '/links/1', credential: 'server'}],
	['resolve', (oplink) => oplink.resolve('AbC4', 's'), {method: 'GET', url: '/AbC4/s/data', credential: 'none'}],
	[
		'resolve with a device',
		(oplink) => oplink.resolve('AbC4', 'ü?', {deviceId: 'device 1'}),
		{method: 'GET', url: '/AbC4/%C3%BC%3F/data?deviceId=device%201', credential: 'none'},
	],
	[
		'match',
		(oplink) => oplink.match({clipboardToken: 'opl_x', platform: 'iOS'}),
		{method: 'POST', url: '/match', body: {clipboardToken: 'opl_x', platform: 'iOS'}, credential: 'x-api-key'},
	],
	[
		'match without signals',
		(oplink) => oplink.match(),
		{method: 'POST', url: '/match', body: {}, credential: 'x-api-key'},
	],
	[
		'session',
		(oplink) => oplink.session({deviceId, appVersion: '1.2'}),
		{method: 'POST', url: '/sdk/session', body: {deviceId, appVersion: '1.2'}, credential: 'client'},
	],
	[
		'identify',
		(oplink) => oplink.identify(deviceId, 'user-1', {plan: 'pro'}),
		{
			method: 'POST',
			url: '/sdk/identity',
			body: {deviceId, externalUserId: 'user-1', traits: {plan: 'pro'}},
			credential: 'client',
		},
	],
	[
		'clearIdentity',
		(oplink) => oplink.clearIdentity(deviceId),
		{method: 'POST', url: '/sdk/identity/clear', body: {deviceId}, credential: 'client'},
	],
	[
		'track',
		(oplink) => oplink.track(deviceId, 'signup', undefined, {eventId: 'event-1'}),
		{
			method: 'POST',
			url: '/sdk/events',
			body: {deviceId, eventName: 'signup', properties: {}, eventId: 'event-1'},
			credential: 'client',
		},
	],
	[
		'track with all there is to say',
		(oplink) => oplink.track(deviceId, 'signup', {step: 2}, {eventId: 'event-1', occurredAt, linkId: 'link-1'}),
		{
			method: 'POST',
			url: '/sdk/events',
			body: {
				deviceId,
				eventName: 'signup',
				properties: {step: 2},
				eventId: 'event-1',
				occurredAt: '2026-03-10T12:00:00.000Z',
				linkId: 'link-1',
			},
			credential: 'client',
		},
	],
];

for (const [name, call, {credential, ...expected}] of cases) {
	test(`${name} sends its request with the credential of its surface, and gives the answer`, async (t) => {
		const {oplink, requests} = await faultyServer(t, [{status: 200, body: {answer: name}}]);
		t.deepEqual(await call(oplink), {answer: name});
		const {headers = {}, ...request} = requests[0] ?? {};
		t.deepEqual(request, {body: undefined, ...expected} as typeof request);
		t.is(requests.length, 1);
		const bearer = {
			server: 'Bearer opl_api_test',
			client: 'Bearer opl_sdk_test',
			'x-api-key': undefined,
			none: undefined,
		};
		t.is(headers.authorization, bearer[credential]);
		t.is(headers['x-api-key'], credential === 'x-api-key' ? 'opl_sdk_test' : undefined);
		t.is(headers['content-type'], expected.body === undefined ? undefined : 'application/json');
	});
}

const withoutKeys: Partial<OplinkOptions> = {clientKey: undefined, serverKey: undefined};

test('without a CLIENT key match sends none, because it is optional', async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 200, body: {matched: false}}], withoutKeys);
	await oplink.match({deviceId});
	t.is(requests[0]?.headers['x-api-key'], undefined);
});

test('without its key a call is left for the server to refuse', async (t) => {
	const body = {statusCode: 401, message: 'Missing Authorization header'};
	const {oplink, requests} = await faultyServer(t, [{status: 401, body}], withoutKeys);
	await t.throwsAsync(oplink.links.list(), {instanceOf: OplinkApiError, message: body.message});
	await t.throwsAsync(oplink.clearIdentity(deviceId), {instanceOf: OplinkApiError, message: body.message});
	t.deepEqual(
		requests.map(({headers}) => headers.authorization),
		[undefined, undefined],
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

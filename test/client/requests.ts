import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {Oplink, OplinkApiError, OplinkConnectionError, type OplinkOptions} from '../../src/client/oplink.ts';
import {faultyServer, rateLimited} from './_faulty-server.ts';

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

const noRetries = {maxRetries: 0};

const apiError = async (call: Promise<unknown>): Promise<OplinkApiError> => {
	const error: unknown = await call.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof OplinkApiError)) {
		throw new Error(`no OplinkApiError but ${error}`);
	}

	return error;
};

test('an API error has the envelope’s fields and the raw body', async (t) => {
	const body = {
		statusCode: 400,
		error: 'Bad Request',
		message: 'Validation failed',
		details: [{message: 'path is required', field: 'path'}],
		timestamp: '2026-03-10T12:00:00.000Z',
		path: '/links',
		requestId: 'request-1',
	};
	const {oplink} = await faultyServer(t, [{status: 400, body}]);
	const error = await apiError(oplink.links.create({path: ''}));
	t.true(error instanceof Error);
	t.is(error.name, 'OplinkApiError');
	t.is(error.status, 400);
	t.is(error.message, 'Validation failed');
	t.is(error.requestId, 'request-1');
	t.deepEqual(error.details, body.details);
	t.is(error.retryAfterSeconds, undefined);
	t.is(error.code, undefined);
	t.is(error.body, JSON.stringify(body));
});

test('a structured error has its code, and its extra fields in the envelope', async (t) => {
	const body = {statusCode: 402, message: "You've reached your links limit.", code: 'QUOTA_EXCEEDED', quota: 'links'};
	const {oplink} = await faultyServer(t, [{status: 402, body}]);
	const error = await apiError(oplink.links.create({path: '/sale'}));
	t.is(error.code, 'QUOTA_EXCEEDED');
	t.is(error.envelope?.['quota'], 'links');
});

test('details are of a 400 only, and a wait of a 429 only', async (t) => {
	const message = 'Rate limit exceeded. Retry after 12 second(s).';
	const conflict = await faultyServer(t, [{status: 409, body: {message, details: [{message: 'no'}]}}]);
	const refused = await apiError(conflict.oplink.links.create({path: '/sale'}));
	t.is(refused.details, undefined);
	t.is(refused.retryAfterSeconds, undefined);

	const busy = await faultyServer(t, [rateLimited(12)], noRetries);
	const {retryAfterSeconds, details} = await apiError(busy.oplink.match({}));
	t.is(retryAfterSeconds, 12);
	t.is(details, undefined);
});

test('requestId may be missing, and comes from the header if the body has none', async (t) => {
	const without = await faultyServer(t, [{status: 404, body: {message: 'Link not found'}}]);
	t.is((await apiError(without.oplink.resolve('AbC4', 'gone'))).requestId, undefined);

	const headers = {'x-request-id': 'request-2'};
	const within = await faultyServer(t, [{status: 404, body: '<h1>Not found</h1>', headers}]);
	t.is((await apiError(within.oplink.resolve('AbC4', 'gone'))).requestId, 'request-2');
});

for (const [what, body] of Object.entries({
	'an HTML page': '<html><h1>Forbidden</h1></html>',
	'nothing at all': '',
	'truncated JSON': '{"statusCode": 403, "mess',
	'JSON without a message': '["nope"]',
	null: 'null',
})) {
	test(`an error whose body is ${what} names the status and keeps the body`, async (t) => {
		const {oplink} = await faultyServer(t, [{status: 403, body}]);
		const error = await apiError(oplink.resolve('AbC4', 'sale'));
		t.is(error.status, 403);
		t.is(error.message, 'request failed with status 403');
		t.is(error.body, body);
	});
}

test('a success that is not valid JSON is an API error too, and is not repeated', async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 200, body: '<html>Accept the terms of this WiFi</html>'}]);
	const error = await apiError(oplink.resolve('AbC4', 'sale'));
	t.is(error.status, 200);
	t.is(error.message, 'request failed with status 200');
	t.is(error.body, '<html>Accept the terms of this WiFi</html>');
	t.is(requests.length, 1);
});

test('a connection error has its cause', async (t) => {
	const server = createServer();
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', resolve);
	});
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	await new Promise((resolve) => {
		server.close(resolve);
	});

	const error = await t.throwsAsync(new Oplink({baseUrl, ...noRetries}).match({}), {instanceOf: OplinkConnectionError});
	t.is(error?.name, 'OplinkConnectionError');
	t.true(error?.cause instanceof TypeError);
	t.regex(String(error?.message), /^POST \/match got no answer: .*ECONNREFUSED/);
});

test('a connection error gives the reason that fetch keeps below its own, also of several addresses', (t) => {
	const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:3000')]);
	const {reason, baseUrl} = new OplinkConnectionError(
		{method: 'GET', baseUrl: 'http://localhost:3000', path: '/links'},
		new TypeError('fetch failed', {cause: refused}),
	);
	t.is(reason, 'connect ECONNREFUSED ::1:3000');
	t.is(baseUrl, 'http://localhost:3000');
});

test('a timeout is a connection error, also during the answer', async (t) => {
	const silent = await faultyServer(t, ['hang'], {...noRetries, timeoutSeconds: 0.05});
	const error = await t.throwsAsync(silent.oplink.match({}), {instanceOf: OplinkConnectionError});
	t.true(error?.cause instanceof Error);
	t.like(error?.cause, {name: 'TimeoutError'});
	t.is(error?.message, 'POST /match got no answer: no answer within 0.05 s');

	const endless = new Oplink({
		baseUrl: 'http://example.invalid',
		...noRetries,
		timeoutSeconds: 0.05,
		fetch: async () => ({status: 200, text: () => new Promise<string>(() => {})}),
	});
	await t.throwsAsync(endless.match({}), {instanceOf: OplinkConnectionError});
});

test('a timeout aborts the request', async (t) => {
	const signals: AbortSignal[] = [];
	const oplink = new Oplink({
		baseUrl: 'http://example.invalid',
		...noRetries,
		timeoutSeconds: 0.05,
		fetch: (_url, {signal}) => {
			signals.push(signal);
			return new Promise(() => {});
		},
	});
	await t.throwsAsync(oplink.match({}), {instanceOf: OplinkConnectionError});
	t.true(signals[0]?.aborted);
});

test('a timeout beyond the longest timer never fires, instead of at once', async (t) => {
	const {oplink} = await faultyServer(t, [{status: 200, body: {matched: false}}], {timeoutSeconds: Infinity});
	t.deepEqual(await oplink.match({}), {matched: false} as never);
});

test('a client can be created with an invalid address; its calls fail', async (t) => {
	const oplink = new Oplink({baseUrl: 'not an address', ...noRetries});
	await t.throwsAsync(oplink.match({}), {instanceOf: OplinkConnectionError});
});

test('an id that would name another route is refused before it is sent', async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 200}]);
	for (const id of ['', '.', '..']) {
		await t.throwsAsync(oplink.links.delete(id), {instanceOf: TypeError, message: `id must not be '${id}'`});
		await t.throwsAsync(oplink.resolve('AbC4', id), {instanceOf: TypeError});
	}

	t.deepEqual(requests, []);
});

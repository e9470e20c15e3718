import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {Oplink, OplinkApiError, OplinkConnectionError} from '../../src/client/oplink.ts';
import {faultyServer, rateLimited} from './_faulty-server.ts';

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

import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {Oplink, OplinkApiError, OplinkConnectionError} from '../../src/client/oplink.ts';
import {faultyServer, rateLimited} from './_faulty-server.ts';

const noRetries = {maxRetries: 0};

const apiError = (t: ExecutionContext, call: Promise<unknown>) => t.throwsAsync(call, {instanceOf: OplinkApiError});

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
	const quota = {statusCode: 402, message: "You've reached your links limit.", code: 'QUOTA_EXCEEDED', quota: 'links'};
	const {oplink} = await faultyServer(t, [
		{status: 400, body},
		{status: 402, body: quota},
	]);
	const error = await apiError(t, oplink.links.create({path: ''}));
	t.true(error instanceof Error);
	const {details, requestId} = body;
	const message = 'Validation failed: path is required';
	t.like(error, {name: 'OplinkApiError', status: 400, message, requestId, body: JSON.stringify(body)});
	t.deepEqual(error?.details, details);
	t.like(error, {retryAfterSeconds: undefined, code: undefined});

	const structured = await apiError(t, oplink.links.create({path: '/sale'}));
	t.is(structured?.code, 'QUOTA_EXCEEDED');
	t.is(structured?.envelope?.['quota'], 'links');
});

test('details that are no list of messages are not in the message of an error', (t) => {
	for (const details of ['text', [null]]) {
		t.is(new OplinkApiError({status: 400, text: JSON.stringify({message: 'No', details})}).message, 'No');
	}
});

test('a client without an address, and links without a SERVER key, say what is missing before a request', async (t) => {
	const noOptions = undefined as unknown as {baseUrl: string};
	for (const options of [{} as {baseUrl: string}, noOptions, {baseUrl: undefined as unknown as string}]) {
		t.throws(() => new Oplink(options), {name: 'Error', message: /^oplink: baseUrl is missing: new Oplink\(/});
	}

	for (const serverKey of [undefined, '']) {
		const {links} = new Oplink({baseUrl: 'https://api.example.com', serverKey, fetch: () => t.fail() as never});
		const calls = [
			links.create({path: '/a'}),
			links.list(),
			links.get('x'),
			links.update('x', {title: 'x'}),
			links.delete('x'),
		];
		for (const call of calls) {
			await t.throwsAsync(call, {name: 'Error', message: /^oplink: links needs the SERVER key: /});
		}
	}
});

test('details are of a 400 only, a wait of a 429 only, and a request id may be missing or of the header', async (t) => {
	const {oplink} = await faultyServer(
		t,
		[
			{status: 409, body: {message: 'Rate limit exceeded. Retry after 12 second(s).', details: [{message: 'no'}]}},
			rateLimited(12),
			{status: 404, body: '<h1>Not found</h1>', headers: {'x-request-id': 'request-2'}},
		],
		noRetries,
	);
	for (const expected of [
		{retryAfterSeconds: undefined, details: undefined, requestId: undefined},
		{retryAfterSeconds: 12, details: undefined, requestId: undefined},
		{retryAfterSeconds: undefined, details: undefined, requestId: 'request-2'},
	]) {
		t.like(await apiError(t, oplink.match({})), expected);
	}
});

test('an answer without the envelope or a success without JSON names the status, keeps the body, and is not retried', async (t) => {
	for (const [status, body] of [
		[403, '<html><h1>Forbidden</h1></html>'],
		[403, ''],
		[403, '{"statusCode": 403, "mess'],
		[403, '["nope"]'],
		[403, 'null'],
		[200, '<html>Accept the terms of this WiFi</html>'],
	] as const) {
		const {oplink, requests} = await faultyServer(t, [{status, body}]);
		const error = await apiError(t, oplink.resolve('AbC4', 'sale'));
		t.like(error, {status, message: `request failed with status ${status}`, body});
		t.is(requests.length, 1);
	}
});

test('a connection error has its cause, also of an address that is none', async (t) => {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	await new Promise((resolve) => server.close(resolve));
	const error = await t.throwsAsync(new Oplink({baseUrl, ...noRetries}).match({}), {instanceOf: OplinkConnectionError});
	t.is(error?.name, 'OplinkConnectionError');
	t.true(error?.cause instanceof TypeError);
	t.regex(String(error?.message), /^POST \/match got no answer: .*ECONNREFUSED/);

	const oplink = new Oplink({baseUrl: 'not an address', ...noRetries});
	await t.throwsAsync(oplink.match({}), {instanceOf: OplinkConnectionError});
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

const inAWhile = {...noRetries, timeoutSeconds: 0.05};

test('a timeout is a connection error, also during the answer, and aborts the request', async (t) => {
	const silent = await faultyServer(t, ['hang'], inAWhile);
	const error = await t.throwsAsync(silent.oplink.match({}), {instanceOf: OplinkConnectionError});
	t.true(error?.cause instanceof Error);
	t.like(error?.cause, {name: 'TimeoutError'});
	t.is(error?.message, 'POST /match got no answer: no answer within 0.05 s');

	const signals: AbortSignal[] = [];
	for (const answer of [{status: 200, text: () => new Promise<string>(() => {})}, new Promise<never>(() => {})]) {
		const endless = new Oplink({
			baseUrl: 'http://example.invalid',
			...inAWhile,
			fetch: async (_url, {signal}) => {
				signals.push(signal);
				return answer;
			},
		});
		await t.throwsAsync(endless.match({}), {instanceOf: OplinkConnectionError});
	}

	const aborteds = signals.map(({aborted}) => aborted);
	t.deepEqual(aborteds, [true, true]);
});

test('a timeout beyond the longest timer never fires, instead of at once', async (t) => {
	const {oplink} = await faultyServer(t, [{status: 200, body: {matched: false}}], {timeoutSeconds: Infinity});
	t.deepEqual(await oplink.match({}), {matched: false} as never);
});

test('an id that would name another route is refused before it is sent', async (t) => {
	const {oplink, requests} = await faultyServer(t, [{status: 200}]);
	for (const id of ['', '.', '..']) {
		await t.throwsAsync(oplink.links.delete(id), {instanceOf: TypeError, message: `id must not be '${id}'`});
		await t.throwsAsync(oplink.resolve('AbC4', id), {instanceOf: TypeError});
	}

	t.deepEqual(requests, []);
});

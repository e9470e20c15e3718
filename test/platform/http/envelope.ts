import {connect} from 'node:net';
import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous, send, withKey} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

test('an unknown path is 404 with every field of the envelope', async (t) => {
	const {status, body, headers} = await anonymous(service).get('/portal/nowhere?x=1', {'X-Request-Id': 'my-id-1'});
	t.is(status, 404);
	t.deepEqual(body, {
		statusCode: 404,
		error: 'Not Found',
		message: 'Not found',
		details: null,
		timestamp: service.clock.now().toISOString(),
		path: '/portal/nowhere',
		requestId: 'my-id-1',
	});
	t.is(headers['x-request-id'], 'my-id-1');
	t.is(headers['x-error-code'], 'unknown_path');
	t.is(headers['content-type'], 'application/json; charset=utf-8');
});

test('a request without an id gets a UUID', async (t) => {
	const {headers, body} = await anonymous(service).get('/links');
	t.regex(String(headers['x-request-id']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
	t.is(body.requestId, headers['x-request-id']);
});

for (const [name, id] of [
	['129 characters', 'a'.repeat(129)],
	['a space', 'a b'],
	['a character beyond ASCII', 'caf\u00e9'],
] as const) {
	test(`a request id with ${name} is replaced`, async (t) => {
		const {headers} = await anonymous(service).get('/health/live', {'X-Request-Id': id});
		t.regex(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
	});
}

test('a request id of 128 visible characters is echoed on success too', async (t) => {
	const id = '~'.repeat(128);
	const {headers, status} = await anonymous(service).get('/health/live', {'X-Request-Id': id});
	t.is(status, 200);
	t.is(headers['x-request-id'], id);
});

for (const path of [
	'/',
	'/links/1/2/3/4',
	'/sdk/unknown',
	'/match/x',
	'/portal/billing/subscribe',
	'/portal/x',
	'/admin/nothing',
	'/webhooks/x',
	'/webhook/x',
	'/dev/billing',
	'/health/x',
	'/metrics/x',
	'/openapi.json/x',
	'/docs/x',
	'/internal/x',
	'/.well-known/x',
	'/%zz/x/y/z',
]) {
	test(`unknown ${path} is 404 with and without a credential`, async (t) => {
		const {serverKey} = await organization(service);
		for (const caller of [
			anonymous(service),
			admin(service),
			withKey(service, serverKey),
			withKey(service, 'nonsense'),
		]) {
			const {status, body} = await caller.get(path);
			t.is(status, 404);
			t.is(body.statusCode, 404);
		}
	});
}

test('a known path with a wrong method is 404, whatever the credential', async (t) => {
	for (const caller of [anonymous(service), admin(service)]) {
		t.is((await caller.put('/links', {})).status, 404);
		t.is((await caller.delete('/admin/organizations')).status, 404);
		t.is((await caller.post('/AB12/code', {})).status, 404);
		t.is((await caller.options('/links')).status, 404);
	}
});

const organizationsPath = '/admin/organizations';

for (const [name, body, headers, status, code, message] of [
	['malformed JSON', '{"name":', {}, 400, 'malformed_json', 'Request body is not valid JSON'],
	['a JSON array', '[]', {}, 400, 'validation_failed', 'Validation failed'],
	['a JSON string', '"x"', {}, 400, 'validation_failed', 'Validation failed'],
	[
		'a wrong content type',
		'{"name":"x"}',
		{'Content-Type': 'text/html'},
		415,
		'unsupported_media_type',
		'Content-Type must be application/json',
	],
	[
		'a compressed body',
		'{}',
		{'Content-Encoding': 'gzip'},
		415,
		'unsupported_encoding',
		'Content-Encoding must be identity',
	],
	[
		'bytes that are not UTF-8',
		Buffer.from([0x22, 0xff, 0x22]),
		{},
		400,
		'malformed_json',
		'Request body is not valid JSON',
	],
	[
		'a body over 256 KiB',
		JSON.stringify({name: 'x'.repeat(262_144)}),
		{},
		413,
		'body_too_large',
		'Request body must not be larger than 262144 bytes',
	],
] as const) {
	test(`${name} is ${status} with the envelope`, async (t) => {
		const answer = await admin(service).post(organizationsPath, body, {...headers});
		t.is(answer.status, status);
		t.is(answer.headers['x-error-code'], code);
		t.is(answer.body.message, message);
		t.is(answer.body.statusCode, status);
	});
}

test('an absent body counts as an empty object', async (t) => {
	const {status, body} = await admin(service).post(organizationsPath);
	t.is(status, 400);
	t.deepEqual(body.details, [{field: 'name', message: 'name is required'}]);
});

test('a chunked body over 256 KiB is 413', async (t) => {
	const {status} = await send(
		service.url,
		'POST',
		organizationsPath,
		{Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked'},
		JSON.stringify({name: 'x'.repeat(300_000)}),
	);
	t.is(status, 413);
});

test('a body is not read before the credential is checked', async (t) => {
	const {status} = await anonymous(service).post('/links', '{"path":');
	t.is(status, 401);
});

test('every wrong field has one detail, named by its dotted path', async (t) => {
	const {body} = await admin(service).post(organizationsPath, {
		name: '',
		contactEmail: 'nobody',
		plan: 7,
		extra: true,
	});
	t.is(body.message, 'Validation failed');
	t.deepEqual(body.details.map(({field}: {field: string}) => field).toSorted(), [
		'contactEmail',
		'extra',
		'name',
		'plan',
	]);
	t.is(
		body.details.find(({field}: {field: string}) => field === 'name').message,
		'name must be longer than or equal to 1 characters',
	);
	t.is(body.details.find(({field}: {field: string}) => field === 'extra').message, 'extra is not allowed');
});

for (const [name, value] of [
	['a null character', 'a\0b'],
	['half a surrogate pair', 'a\ud800'],
] as const) {
	test(`a string with ${name} is 400`, async (t) => {
		const {status, body} = await admin(service).post(organizationsPath, {name: value});
		t.is(status, 400);
		t.is(body.details[0].field, 'name');
	});
}

for (const [name, path, body] of [
	['with a credential', organizationsPath, {name: 'x', extra: 'DEEP'}],
	['without one', '/match', {extra: 'DEEP'}],
] as const) {
	test(`a body of 20,000 levels is 400 ${name}`, async (t) => {
		const text = JSON.stringify(body).replace('"DEEP"', `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
		const answer = await admin(service).post(path, text);
		t.is(answer.status, 400);
		t.deepEqual(answer.body.details, [{field: 'extra', message: 'extra must not be nested deeper than 64 levels'}]);
	});
}

test('a field named after the prototype is refused like any unknown one', async (t) => {
	const {server} = await organization(service);
	for (const [body, field] of [
		['{"path":"/x","__proto__":{"a":1}}', '__proto__'],
		['{"path":"/x","og":{"__proto__":"x"}}', 'og.__proto__'],
		['{"path":"/x","params":{"__proto__":"x"}}', 'params.__proto__'],
	] as const) {
		const answer = await server.post('/links', body);
		t.is(answer.status, 400);
		t.deepEqual(answer.body.details, [{field, message: `${field} is not allowed`}]);
	}
});

test('invalid path, query and body values are reported together', async (t) => {
	const {server} = await organization(service);
	const fields = ({body}: {body: {details: Array<{field: string}>}}) => body.details.map(({field}) => field).toSorted();
	t.deepEqual(fields(await server.patch('/links/bad', {title: 5, tags: ['a', 7]})), ['id', 'tags.1', 'title']);
	t.deepEqual(fields(await server.get('/links/bad/qr.png?size=1')), ['id', 'size']);
});

test('HEAD answers like GET without a body', async (t) => {
	const get = await anonymous(service).get('/health/live');
	const head = await anonymous(service).head('/health/live');
	t.is(head.status, 200);
	t.is(head.text, '');
	t.is(head.headers['content-length'], get.headers['content-length']);
});

/** The server's answer to raw bytes until it closes the connection. */
const raw = (bytes: string): Promise<string> =>
	new Promise((resolve, reject) => {
		const {hostname, port} = new URL(service.url);
		const socket = connect(Number(port), hostname, () => socket.write(bytes));
		let text = '';
		socket.on('data', (chunk) => {
			text += chunk.toString();
		});
		socket.on('error', reject);
		socket.on('close', () => resolve(text));
	});

test('a malformed request line is 400 and the connection ends', async (t) => {
	t.regex(await raw('NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 /);
});

test('headers that are too large are 431 and the connection ends', async (t) => {
	t.regex(await raw(`GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /);
});

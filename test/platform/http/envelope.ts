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
	const ofProxy = await send(service.url, 'GET', `${service.url}/portal/nowhere?x=1`);
	t.like(ofProxy, {status: 404, body: {path: '/portal/nowhere'}});
});

test('a request id of 128 visible characters is echoed on success too, any other or none becomes a UUID', async (t) => {
	const idFor = async (id: string) => {
		const {headers, status} = await anonymous(service).get('/health/live', {'X-Request-Id': id});
		t.is(status, 200);
		return String(headers['x-request-id']);
	};
	t.is(await idFor('~'.repeat(128)), '~'.repeat(128));
	const {headers, body} = await anonymous(service).get('/links');
	t.is(body.requestId, headers['x-request-id']);
	for (const id of [body.requestId, await idFor('a'.repeat(129)), await idFor('a b'), await idFor('caf\u00e9')]) {
		t.regex(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
	}
});

const UNKNOWN = [
	...['/', '/links/1/2/3/4', '/sdk/unknown', '/match/x', '/portal/billing/subscribe', '/portal/x', '/admin/nothing'],
	...['/webhooks/x', '/webhook/x', '/dev/billing', '/health/x', '/metrics/x', '/openapi.json/x', '/docs/x'],
	...['/internal/x', '/.well-known/x', '/%zz/x/y/z'],
];

test('an unknown path, and a known one with a wrong method, is 404 whatever the credential', async (t) => {
	const {serverKey} = await organization(service);
	for (const caller of [
		anonymous(service),
		admin(service),
		withKey(service, serverKey),
		withKey(service, 'nonsense'),
	]) {
		for (const path of UNKNOWN) {
			t.like(await caller.get(path), {status: 404, body: {statusCode: 404}}, path);
		}

		t.is((await caller.put('/links', {})).status, 404);
		t.is((await caller.delete('/admin/organizations')).status, 404);
		t.is((await caller.post('/AB12/code', {})).status, 404);
		t.is((await caller.options('/links')).status, 404);
	}
});

const organizationsPath = '/admin/organizations';

const TOO_LARGE = JSON.stringify({name: 'x'.repeat(262_144)});

for (const [name, status, code, message, body, headers] of [
	['malformed JSON', 400, 'malformed_json', 'Request body is not valid JSON', '{"name":', {}],
	['a text not in UTF-8', 400, 'malformed_json', 'Request body is not valid JSON', Buffer.from([0x22, 0xff, 0x22]), {}],
	['a JSON array', 400, 'validation_failed', 'Validation failed', '[]', {}],
	['a JSON string', 400, 'validation_failed', 'Validation failed', '"x"', {}],
	['HTML', 415, 'unsupported_media_type', 'Content-Type must be application/json', '{}', {'Content-Type': 'text/html'}],
	['more than 256 KiB', 413, 'body_too_large', 'Request body must not be larger than 262144 bytes', TOO_LARGE, {}],
] as const) {
	test(`${name} is ${status} with the envelope`, async (t) => {
		const answer = await admin(service).post(organizationsPath, body, {...headers});
		t.like(answer, {status, body: {statusCode: status, message}});
		t.is(answer.headers['x-error-code'], code);
	});
}

for (const coding of ['gzip', 'br', 'deflate', 'gzip, gzip']) {
	test(`a body in the coding ${coding} is 415`, async (t) => {
		const answer = await admin(service).post(organizationsPath, '{}', {'Content-Encoding': coding});
		t.like(answer, {status: 415, body: {message: 'Content-Encoding must be identity'}});
		t.is(answer.headers['x-error-code'], 'unsupported_encoding');
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

test('every wrong field has one detail, named by its dotted path', async (t) => {
	const wrong = {name: '', contactEmail: 'nobody', plan: 7, extra: true};
	const {body} = await admin(service).post(organizationsPath, wrong);
	t.is(body.message, 'Validation failed');
	const details = body.details as Array<{field: string; message: string}>;
	t.deepEqual(details.map(({field}) => field).toSorted(), Object.keys(wrong).toSorted());
	const messageOf = (name: string) => details.find(({field}) => field === name)?.message;
	t.is(messageOf('name'), 'name must be longer than or equal to 1 characters');
	t.is(messageOf('extra'), 'extra is not allowed');
});

test('a string with a null character or half a surrogate pair is 400', async (t) => {
	for (const name of ['a\0b', 'a\ud800']) {
		const {status, body} = await admin(service).post(organizationsPath, {name});
		t.deepEqual([status, body.details[0].field], [400, 'name']);
	}
});

test('a number that JavaScript reads as infinite is 400 wherever it stands in a body, and names its field', async (t) => {
	const acme = await organization(service);
	const event = '{"deviceId":"device-0001","eventName":"purchase","properties":';
	const rule = 'must be a number between -1.7976931348623157e308 and 1.7976931348623157e308';
	for (const [answer, field] of [
		[await acme.client.post('/sdk/events', `${event}{"price":1e309}}`), 'properties.price'],
		[await acme.client.post('/sdk/events', `${event}{"items":[1,{"price":-1E+400}]}}`), 'properties.items.1.price'],
		[await acme.client.post('/sdk/events', `${event}{"price":${'9'.repeat(310)}}}`), 'properties.price'],
		[await acme.client.post('/sdk/identity', `{"deviceId":"device-0001","traits":{"age":1e999}}`), 'traits.age'],
		[await acme.server.post('/links', '{"path":"/x","matchWindowHours":1e309}'), 'matchWindowHours'],
		[await acme.server.patch(`/links/${crypto.randomUUID()}`, '{"params":{"x":1e309}}'), 'params.x'],
		[await admin(service).post(organizationsPath, '{"name":1e309}'), 'name'],
		[await anonymous(service).post('/match', '{"screen":{"width":1e309}}'), 'screen.width'],
	] as const) {
		t.is(answer.status, 400, field);
		t.deepEqual(answer.body.details, [{field, message: `${field} ${rule}`}]);
	}

	const rows = '{"path":"/a","matchWindowHours":1e309}\n{"path":"/b"}\n';
	const imported = await acme.operator.post('/links/import', rows, {'Content-Type': 'application/x-ndjson'});
	const [failed, created] = imported.text
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	t.like(failed, {line: 1, status: 'failed'});
	t.like(created, {line: 2, status: 'created'});
	const largest = `{"price":${Number.MAX_VALUE},"least":-1e-400}`;
	await acme.client.post('/sdk/session', {deviceId: 'device-0001', platform: 'ios'});
	t.is((await acme.client.post('/sdk/events', `${event}${largest}}`)).status, 200);
});

test('a body of 20,000 levels is 400, with a credential and without', async (t) => {
	const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	for (const answer of [
		await admin(service).post(organizationsPath, `{"name":"x","extra":${nested}}`),
		await anonymous(service).post('/match', `{"extra":${nested}}`),
	]) {
		t.is(answer.status, 400);
		t.deepEqual(answer.body.details, [{field: 'extra', message: 'extra must not be nested deeper than 64 levels'}]);
	}
});

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
	t.deepEqual([head.status, head.text], [200, '']);
	t.is(head.headers['content-length'], get.headers['content-length']);
});

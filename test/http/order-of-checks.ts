import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import test from 'ava';
import {exampleAppConfig, link, organization} from '../helpers/builders.ts';
import {admin, anonymous, send, withKey} from '../helpers/callers.ts';
import {serviceOf, startService} from '../helpers/service.ts';

const service = serviceOf(test);

test('the messages of a missing, malformed and unknown key are those of the specification', async (t) => {
	for (const [headers, message] of [
		[{}, 'Missing Authorization header'],
		[{Authorization: 'opl_api_abc'}, 'Invalid Authorization format'],
		[{Authorization: 'Basic b3BsOm9wbA=='}, 'Invalid Authorization format'],
		[{Authorization: 'Bearer opl_api_abc'}, 'Invalid API key'],
		[{Authorization: 'Bearer x'}, 'Invalid API key'],
	] as const) {
		const {status, body} = await anonymous(service).get('/links', headers);
		t.is(status, 401);
		t.is(body.message, message);
	}
});

test('a CLIENT key on /links is refused with 403 and both tiers named', async (t) => {
	const acme = await organization(service);
	const {status, body} = await acme.client.get('/links');
	t.is(status, 403);
	t.is(body.message, "API key tier 'CLIENT' is not permitted on this endpoint (requires 'SERVER')");
	t.is(body.code, undefined);
});

test('suspension comes before the tier, and the tier before the feature', async (t) => {
	const acme = await organization(service, {plan: 'SOLO'});
	t.regex((await acme.client.get('/links')).body.message, /^API key tier/);
	const refused = await acme.server.get('/links');
	t.is(refused.status, 403);
	t.is(refused.body.code, 'FEATURE_NOT_AVAILABLE');
	t.is(refused.body.feature, 'api_access');
	await admin(service).post(`/admin/organizations/${acme.id}/suspend`);
	t.is((await acme.client.get('/links')).body.message, 'Organization is suspended');
});

test('an organization without a plan passes the feature and meets 402 on a create, after the body', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await acme.server.post('/links', '{')).status, 400);
	t.is((await acme.server.post('/links', {path: ''})).body.message, 'Validation failed');
	const {status, body} = await acme.server.post('/links', {path: '/sale', channel: 'unknown'});
	t.is(status, 402);
	t.is(body.code, 'PLAN_NOT_SELECTED');
});

test('plan, app configuration, quota, references and conflict follow each other', async (t) => {
	const acme = await organization(service, {plan: null, appConfig: null});
	const create = () => acme.server.post('/links', {path: '/sale', channel: 'unknown', shortCode: 'taken'});
	t.is((await create()).body.code, 'PLAN_NOT_SELECTED');
	await admin(service).put(`/admin/organizations/${acme.id}/plan`, {plan: 'GROWTH'});
	const required = await create();
	t.is(required.status, 428);
	t.is(required.body.code, 'APP_CONFIG_REQUIRED');
	await admin(service).put(`/admin/organizations/${acme.id}/app-config`, exampleAppConfig);
	await link(acme, {shortCode: 'taken'});
	const {db} = service.services;
	await db('link_counts').where({organization_id: acme.id}).update({links: 10_000});
	const full = await create();
	t.is(full.status, 402);
	t.deepEqual(
		[full.body.code, full.body.quota, full.body.message],
		['QUOTA_EXCEEDED', 'links', "You've reached your links limit."],
	);
	await db('link_counts').where({organization_id: acme.id}).update({links: 1});
	const unknown = await create();
	t.is(unknown.status, 400);
	t.is(unknown.body.details, null);
	const conflict = await acme.server.post('/links', {path: '/sale', shortCode: 'taken'});
	t.is(conflict.status, 409);
});

test('a limit comes after the credential and before the body, and a refused credential costs nothing', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const acme = await organization(own);
	for (const _ of Array.from({length: 120})) {
		await anonymous(own).post('/links', '{');
	}

	const burst = await Promise.all(Array.from({length: 101}, () => acme.server.post('/links', '{')));
	const statuses = burst.map(({status}) => status);
	t.is(statuses.filter((status) => status === 400).length, 100);
	const [limited] = burst.filter(({status}) => status === 429);
	t.is(limited?.body.message, 'Rate limit exceeded. Retry after 1 second(s).');
	t.deepEqual(
		Object.keys(limited?.headers ?? {}).filter((name) => /retry|ratelimit/i.test(name)),
		[],
	);
	t.is(limited?.body.retryAfterSeconds, undefined);
	own.clock.advance(1);
	t.is((await acme.server.post('/links', '{')).status, 400);
});

test('reads and writes of links have windows of their own, per key', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const [acme, globex] = [await organization(own), await organization(own)];
	const writes = await Promise.all(Array.from({length: 101}, () => acme.server.delete('/links/x')));
	t.is(writes.filter(({status}) => status === 429).length, 1);
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await globex.server.delete('/links/x')).status, 400);
	t.is((await withKey(own, acme.serverKey).delete('/links/x')).status, 429);
});

test('a key reads 1,000 times a second and no more', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const {server} = await organization(own);
	const burst = await Promise.all(Array.from({length: 1005}, () => server.get('/links/x')));
	t.is(burst.filter(({status}) => status === 429).length, 5);
	t.is(burst.filter(({status}) => status === 400).length, 1000);
});

// A path without a query bypasses Koa, and one with a query does not: the same code gives equal answers.

const post = async (path: string, headers: Record<string, string>, body: string) => {
	const answer = await send(service.url, 'POST', path, {'X-Request-Id': 'one', ...headers}, body);
	const {date: _, ...rest} = answer.headers;
	// The path is reported without its query.
	return {status: answer.status, body: answer.body, headers: rest};
};

test('an answer is the same in front of Koa and behind it, header by header', async (t) => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	const json = {'Content-Type': 'application/json'};
	const client = {...json, Authorization: `Bearer ${acme.clientKey}`};
	const event = JSON.stringify({deviceId: 'device-0001', eventName: 'bought'});
	for (const [status, path, headers, body] of [
		[200, '/sdk/events', client, event],
		[200, '/match', json, JSON.stringify({deviceId: 'device-0001'})],
		[400, '/sdk/events', client, '{'],
		[400, '/sdk/events', client, JSON.stringify({deviceId: 'short', properties: {'\0': 1}})],
		[400, '/sdk/events', client, JSON.stringify({deviceId: 'short', eventName: ''})],
		[404, '/sdk/events', client, event.replace('0001', '0002')],
		[415, '/sdk/events', {...client, 'Content-Type': 'text/csv'}, event],
		[401, '/sdk/events', json, event],
		[403, '/links', client, '{}'],
	] as const) {
		const front = await post(path, headers, body);
		t.is(front.status, status, JSON.stringify(front.body));
		t.deepEqual(front, await post(`${path}?x=1`, headers, body), `${status} ${path}`);
	}
});

test('a refusal keeps the connection if the body has arrived', async (t) => {
	const {status, headers} = await send(service.url, 'POST', '/sdk/events', {'Content-Type': 'application/json'}, '{}');
	t.is(status, 401);
	t.is(headers['connection'], 'keep-alive');
});

const CHUNK = Buffer.alloc(64 * 1024, ' ');
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
const CHUNKED =
	'POST /match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

/** A connection as a proxy has it, which sends all of a request before it gives up. */
const openWith = async (bytes: string) => {
	const socket = connect({port: Number(new URL(service.url).port), host: '127.0.0.1', allowHalfOpen: true});
	await once(socket, 'connect');
	let [text, isEnded, isClosed] = ['', false, false];
	const errors: string[] = [];
	socket.on('data', (chunk) => {
		text += chunk.toString('latin1');
	});
	socket.on('end', () => {
		isEnded = true;
	});
	socket.on('close', () => {
		isClosed = true;
	});
	socket.on('error', ({message}) => errors.push(message));
	socket.write(bytes);
	return {socket, errors, text: () => text, isEnded: () => isEnded, isClosed: () => isClosed};
};

const open = (head: readonly string[]) => openWith(`${head.join('\r\n')}\r\nHost: localhost\r\n\r\n`);

const write = (socket: Socket, bytes: Buffer | string): Promise<void> =>
	new Promise((resolve) => {
		// In a turn of its own: a connection that is gone answers at once, and would be asked for ever.
		socket.write(bytes, () => setImmediate(resolve));
	});

test('a caller refused during its body gets the answer, and may send the rest', async (t) => {
	const acme = await organization(service);
	const hasty = anonymous(service);
	while ((await hasty.post('/match', {})).status !== 429) {
		// The clock stands still, so that the limit is used up.
	}

	const json = 'Content-Type: application/json';
	const key = `Authorization: Bearer ${acme.serverKey}`;
	for (const [status, ...head] of [
		[401, 'POST /links', json],
		[401, 'POST /portal/links', json],
		[404, 'POST /links/nowhere/at/all', json],
		[404, 'PUT /metrics', json],
		[413, 'POST /links', json, key],
		[429, 'POST /match', json, `X-Forwarded-For: ${hasty.address}`],
		[415, 'POST /links', 'Content-Type: text/csv', key],
		[415, 'POST /links', json, 'Content-Encoding: gzip', key],
	] as const) {
		for (const [version, close] of [
			['HTTP/1.0', 'Connection: close'],
			['HTTP/1.1', 'Connection: close'],
			['HTTP/1.1', 'Connection: keep-alive'],
		] as const) {
			const [target, ...fields] = head;
			// A length above the limit is refused before anything else of a body is looked at.
			const chunks = status === 415 ? 3 : 12;
			const length = `Content-Length: ${chunks * CHUNK.length}`;
			const {socket, errors, text, isEnded} = await open([`${target} ${version}`, close, length, ...fields]);
			await write(socket, CHUNK);
			while (!text().includes('"requestId"')) {
				await once(socket, 'data');
			}

			t.regex(text(), new RegExp(`^HTTP/1\\.1 ${status} `), target);
			for (let sent = 1; sent < chunks; sent += 1) {
				t.false(isEnded(), `${status} ${target}`);
				await write(socket, CHUNK);
			}

			if (!isEnded()) {
				await once(socket, 'end');
			}

			socket.end();
			await once(socket, 'close');
			t.deepEqual(errors, [], `${status} ${target}`);
		}
	}
});

test('a body without an end keeps no connection, whether its request was refused or answered', async (t) => {
	for (const head of ['POST /links', 'GET /health/live', 'PUT /nowhere']) {
		const {socket, text, isClosed} = await open([`${head} HTTP/1.1`, 'Transfer-Encoding: chunked']);
		while (!isClosed()) {
			await write(socket, `${CHUNK.length.toString(16)}\r\n${CHUNK}\r\n`);
		}

		t.regex(text(), /^HTTP\/1\.1 (200|401|404) /, head);
	}
});

test('a body that arrives after its answer is not parsed as a request, and the next request is answered', async (t) => {
	const {socket, text} = await open(['GET /health/live HTTP/1.1', `Content-Length: ${CHUNK.length}`]);
	while (!text().includes('{"status":"ok"}')) {
		await once(socket, 'data');
	}

	await write(socket, CHUNK);
	await write(socket, 'GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
	await once(socket, 'end');
	t.is(text().match(/HTTP\/1\.1 200 OK/g)?.length, 2);
	socket.end();
});

/** Invalid requests for Node, and the answers. */
const MALFORMED: ReadonlyArray<[string, readonly number[], string]> = [
	['a head that is too long', [431], `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(20_000)}`],
	['a line that is no request', [400], 'What is this?\r\n\r\n'],
	['a method that does not exist', [400], 'TAKE / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
	['a request without a Host', [400], `POST /match HTTP/1.1\r\nContent-Length: ${12 * CHUNK.length}\r\n\r\n`],
	['a second request without a Host', [200, 400], `${LIVE}POST /match HTTP/1.1\r\nContent-Length: 999999\r\n\r\n`],
	['a body whose parts have no length', [400], `${CHUNKED}what?\r\n`],
	['a body whose parts say too much', [413], `${CHUNKED}1;a=${'b'.repeat(20_000)}\r\n`],
	['what follows a request', [200, 400], `${LIVE}What is this?\r\n\r\n`],
];

for (const [what, statuses, bytes] of MALFORMED) {
	test(`${what} is answered with ${statuses.at(-1)}, readable while still sending`, async (t) => {
		const {socket, errors, text, isEnded} = await openWith(bytes);
		const ended = once(socket, 'end');
		for (let sent = 0; sent < 12; sent += 1) {
			await write(socket, CHUNK);
		}

		await (isEnded() ? null : ended);
		socket.end();
		await once(socket, 'close');
		t.deepEqual(errors, []);
		t.deepEqual(
			[...text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status)),
			[...statuses],
		);
		t.regex(text().slice(text().lastIndexOf('HTTP/1.1')), /^connection: close\r$/im);
	});
}

test('a body that goes wrong after its refusal makes no second answer, and the first one can be read', async (t) => {
	const {socket, errors, text} = await open(['POST /links HTTP/1.1', 'Transfer-Encoding: chunked']);
	while (!text().includes('"requestId"')) {
		await once(socket, 'data');
	}

	const ended = once(socket, 'end');
	await write(socket, 'what?\r\n');
	for (let sent = 0; sent < 12; sent += 1) {
		await write(socket, CHUNK);
	}

	await ended;
	socket.end();
	await once(socket, 'close');
	t.deepEqual(errors, []);
	t.deepEqual(text().match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401']);
});

test('a sender of endless invalid HTTP is disconnected', async (t) => {
	const {socket, text, isClosed} = await openWith('What is this?\r\n\r\n');
	while (!isClosed()) {
		await write(socket, CHUNK);
	}

	t.regex(text(), /^HTTP\/1\.1 400 /);
});

import test from 'ava';
import {checkReadiness} from '../../../src/operations/health/routes.ts';
import {limits} from '../../../src/platform/config/limits.ts';
import {organization} from '../../helpers/builders.ts';
import {anonymous, send} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {CHUNK, LIVE, openWith} from './_connection.ts';

const service = serviceOf(test);

test('a refusal keeps the connection if the body has arrived', async (t) => {
	const answer = await anonymous(service).post('/sdk/events', {});
	t.like(answer, {status: 401, headers: {connection: 'keep-alive'}});
});

test('an expectation that nobody knows is ignored: the answer has the envelope and an id', async (t) => {
	const {status, headers, body} = await send(service.url, 'GET', '/nowhere/at/all', {Expect: 'a-miracle'});
	t.is(status, 404);
	t.is(headers['x-request-id'], body.requestId);
});

const CHUNKED =
	'POST /match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

const open = (head: readonly string[]) => openWith(service, `${head.join('\r\n')}\r\nHost: localhost\r\n\r\n`);

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
			const connection = await open([`${target} ${version}`, close, length, ...fields]);
			await connection.write();
			await connection.until(() => connection.text().includes('"requestId"'));
			t.deepEqual(connection.statuses(), [status], target);
			for (let sent = 1; sent < chunks; sent += 1) {
				t.false(connection.isEnded(), `${status} ${target}`);
				await connection.write();
			}

			t.deepEqual(await connection.end(), [], `${status} ${target}`);
		}
	}
});

test('a body without an end keeps no connection, whether its request was refused or answered', async (t) => {
	for (const head of ['POST /links', 'GET /health/live', 'PUT /nowhere']) {
		const {text, isClosed, write} = await open([`${head} HTTP/1.1`, 'Transfer-Encoding: chunked']);
		while (!isClosed()) {
			await write(`${CHUNK.length.toString(16)}\r\n${CHUNK}\r\n`);
		}

		t.regex(text(), /^HTTP\/1\.1 (200|401|404) /, head);
	}
});

test('a body that arrives after its answer is not parsed as a request, and the next request is answered', async (t) => {
	const connection = await open(['GET /health/live HTTP/1.1', `Content-Length: ${CHUNK.length}`]);
	await connection.until(() => connection.text().includes('{"status":"ok"}'));
	await connection.write();
	await connection.write('GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
	await connection.end();
	t.deepEqual(connection.statuses(), [200, 200]);
});

/** Invalid requests for Node, and the answers. */
const MALFORMED: ReadonlyArray<[string, readonly number[], string]> = [
	['a head that is too long', [431], `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(20_000)}`],
	['an invalid request line', [400], 'What is this?\r\n\r\n'],
	['a method that does not exist', [400], 'TAKE / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
	['a request without a Host', [400], `POST /match HTTP/1.1\r\nContent-Length: ${12 * CHUNK.length}\r\n\r\n`],
	['a second request without a Host', [200, 400], `${LIVE}POST /match HTTP/1.1\r\nContent-Length: 999999\r\n\r\n`],
	['a body whose parts have no length', [400], `${CHUNKED}what?\r\n`],
	['a body whose parts say too much', [413], `${CHUNKED}1;a=${'b'.repeat(20_000)}\r\n`],
	['what follows a request', [200, 400], `${LIVE}What is this?\r\n\r\n`],
];

for (const [what, statuses, bytes] of MALFORMED) {
	test(`${what} is answered with ${statuses.at(-1)}, readable while still sending`, async (t) => {
		const {write, end, statuses: answered, text} = await openWith(service, bytes);
		for (let sent = 0; sent < 12; sent += 1) {
			await write();
		}

		t.deepEqual(await end(), []);
		t.deepEqual(answered(), [...statuses]);
		t.regex(text().slice(text().lastIndexOf('HTTP/1.1')), /^connection: close\r$/im);
	});
}

test('a body that goes wrong after its refusal makes no second answer, and the first one can be read', async (t) => {
	const connection = await open(['POST /links HTTP/1.1', 'Transfer-Encoding: chunked']);
	await connection.until(() => connection.text().includes('"requestId"'));
	await connection.write('what?\r\n');
	for (let sent = 0; sent < 12; sent += 1) {
		await connection.write();
	}

	t.deepEqual(await connection.end(), []);
	t.deepEqual(connection.statuses(), [401]);
});

test('a sender of endless invalid HTTP is disconnected', async (t) => {
	const {text, isClosed, write} = await openWith(service, 'What is this?\r\n\r\n');
	while (!isClosed()) {
		await write();
	}

	t.regex(text(), /^HTTP\/1\.1 400 /);
});

test('webhooks over 16 KiB, or of unknown length, are limited by address before they are read; small ones never', async (t) => {
	const {max} = limits.webhooks;
	const caller = anonymous(service);
	const send = async (count: number, bytes: number) => {
		const ask = () => caller.post('/webhooks/idp', 'x'.repeat(bytes));
		return (await Promise.all(Array.from({length: count}, ask))).map(({status}) => status);
	};
	t.deepEqual(new Set(await send(max + 20, 16 * 1024)), new Set([400]));
	t.is((await send(max + 20, 16 * 1024 + 1)).filter((status) => status === 429).length, 20);
	t.is((await caller.post('/webhook/gateway-a', 'x'.repeat(17_000))).status, 429, 'all receivers share it');
	t.is((await caller.post('/webhooks/idp', undefined, {'Transfer-Encoding': 'chunked'})).status, 429);
	t.is((await anonymous(service).post('/webhook/gateway-a', 'x'.repeat(17_000))).status, 400);
});

test('callers of /health/ready that come at once share one check', async (t) => {
	const {services} = service;
	const first = checkReadiness(services);
	t.is(checkReadiness(services), first);
	await first;
	t.not(checkReadiness(services), first);
	const answers = await Promise.all(Array.from({length: 10}, () => anonymous(service).get('/health/ready')));
	t.deepEqual(new Set(answers.map(({status}) => status)), new Set([200]));
});

import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {startService, type TestService} from '../helpers/service.ts';

let service: TestService;
test.before(async () => {
	service = await startService();
});
test.after.always(() => service?.stop());

const CHUNK = Buffer.alloc(64 * 1024, ' ');

/** A connection as a proxy has it, which sends all of a request before it gives up. */
const open = async (head: readonly string[]) => {
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
	socket.write(`${head.join('\r\n')}\r\nHost: localhost\r\n\r\n`);
	return {socket, errors, text: () => text, isEnded: () => isEnded, isClosed: () => isClosed};
};

const write = (socket: Socket, bytes: Buffer | string): Promise<void> =>
	new Promise((resolve) => {
		// In a turn of its own: a connection that is gone answers at once, and would be asked for ever.
		socket.write(bytes, () => setImmediate(resolve));
	});

test('whoever is refused while its body still comes gets the answer, and may send the rest', async (t) => {
	const acme = await organization(service);
	const json = 'Content-Type: application/json';
	const key = `Authorization: Bearer ${acme.serverKey}`;
	for (const [status, ...head] of [
		[401, 'POST /links', json],
		[401, 'POST /portal/links', json],
		[404, 'POST /links/nowhere/at/all', json],
		[404, 'PUT /metrics', json],
		[413, 'POST /links', json, key],
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

test('a body that comes after its answer is no request, and the next one on the connection is answered', async (t) => {
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

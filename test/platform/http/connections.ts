import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {createFakeClock, serviceOf, startService, type TestService} from '../../helpers/service.ts';

const OK = /^HTTP\/1\.1 200 /;
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

const open = async ({url}: TestService): Promise<Socket> => {
	const socket = connect({port: Number(new URL(url).port), host: '127.0.0.1'});
	// One that is closed at once may be reset.
	socket.on('error', () => {});
	await once(socket, 'connect');
	return socket;
};

/** All that comes on a connection until it is closed, or `isEnough`. */
const read = (socket: Socket, isEnough: (text: string) => boolean = () => false): Promise<string> =>
	new Promise((resolve) => {
		let text = '';
		socket.on('data', (chunk) => {
			text += chunk.toString('latin1');
			if (isEnough(text)) {
				resolve(text);
			}
		});
		socket.once('close', () => resolve(text));
	});

const ask = (socket: Socket): Promise<string> => {
	const answer = read(socket, (text) => text.includes('{"status":"ok"}'));
	socket.write(LIVE);
	return answer;
};

test('a connection above MAX_CONNECTIONS is closed, the others continue, and one that ends frees its place', async (t) => {
	const lines: string[] = [];
	const service = await startService({MAX_CONNECTIONS: '2', LOG_LEVEL: 'error'}, createFakeClock(), undefined, {
		write: (line) => lines.push(line),
	});
	const [first, second] = [await open(service), await open(service)];
	t.regex(await ask(first), OK);
	t.regex(await ask(second), OK);
	for (let above = 0; above < 3; above += 1) {
		t.is(await ask(await open(service)), '');
	}

	t.regex(await ask(first), OK);
	t.regex(await ask(second), OK);
	first.destroy();
	let answer = '';
	// The service may hear of the end later than of the next beginning.
	while (answer === '') {
		answer = await ask(await open(service));
	}

	t.regex(answer, OK);
	t.regex(await ask(second), OK);
	await service.stop();
	t.true(lines.every((line) => line.includes('MAX_CONNECTIONS is reached') && line.includes('"connections":2')));
	const refused = lines.map((line): number => JSON.parse(line).repeated ?? 1);
	t.is(refused.length, 2);
	t.true(Number(refused[1]) >= 2);
});

const usual = serviceOf(test);

/** Waits for the service itself, as its limits are on the machine's time. */
const answerToSlow = async (t: ExecutionContext, bytes: string): Promise<string> => {
	const socket = await open(usual);
	socket.write(bytes);
	const answer = await read(socket);
	t.regex(answer, /^HTTP\/1\.1 408 /);
	t.regex(answer, /^connection: close\r$/im);
	return answer;
};

test('a body that does not come is 408 in the envelope, and the connection ends', async (t) => {
	const head = 'POST /match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20';
	const answer = await answerToSlow(t, `${head}\r\n\r\n{"platform"`);
	const expected = {statusCode: 408, message: 'Request body took too long', path: '/match'};
	t.like(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), expected);
});

test('a head that does not come is 408, and the connection ends', async (t) => {
	await answerToSlow(t, 'GET /health/live HTTP/1.1\r\nHost: local');
});

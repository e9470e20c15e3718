import {once} from 'node:events';
import {type AddressInfo, createServer, type Socket} from 'node:net';
import test from 'ava';
import {hasSucceeded, sendDelivery} from '../../../src/visits/webhooks/send-delivery.ts';
import {createSenders} from '../../../src/visits/webhooks/sender.ts';

const body = JSON.stringify({type: 'link.created', data: {path: '/sale'}});
const outgoing = {
	id: 'msg_1',
	type: 'link.created',
	body,
	secrets: [`whsec_${Buffer.from('a secret').toString('base64')}`],
};
const rules = {networks: ['127.0.0.0/8'], dnsServers: [], isProduction: false};

/** Writes a text again and again, each time that the one before has gone, until the connection ends. */
const forEver = (socket: Socket, text: string): void => {
	const more = () => {
		if (!socket.destroyed) {
			socket.write(text, () => setImmediate(more));
		}
	};
	more();
};

const drip = (socket: Socket, begin: string, text: string): void => {
	socket.write(begin);
	const timer = setInterval(() => socket.write(text), 20);
	socket.on('close', () => clearInterval(timer));
};

const OK = 'HTTP/1.1 200 OK\r\n';
const SILENT = /^no complete answer within 0\.2 s$/;

type Peer = {
	/** What the peer does once the request is there; with `isAtOnce` when the connection is. */
	does: (socket: Socket) => void;
	isAtOnce?: true;
	isSecure?: true;
	/** Seconds after which the attempt is to end; without them it ends by itself, long before its time is up. */
	within?: number;
	/** A status, or the error of a try without one. */
	comes: number | RegExp;
	answer?: string;
};

const peers: Record<string, Peer> = {
	'answers 101 with Upgrade': {
		does: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
		comes: 101,
	},
	'answers 101 without Upgrade': {
		does: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
		comes: 101,
	},
	'answers 200 with Upgrade': {
		does: (socket) => socket.write(`${OK}Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\nok`),
		comes: 200,
		answer: 'ok',
	},
	'answers 103 and then 200': {
		does: (socket) => socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`),
		comes: 200,
		answer: 'ok',
	},
	'answers 102 for ever': {
		does: (socket) => forEver(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
		comes: /^it answered 102 more than 10 times$/,
	},
	'sends a body that never ends': {
		does: (socket) => drip(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, '1\r\n.\r\n'),
		within: 2,
		comes: 200,
		answer: 'ok',
	},
	'sends a body as fast as it can, without an end': {
		does: (socket) => {
			socket.write(`${OK}Content-Length: 99999999\r\n\r\n`);
			forEver(socket, 'x'.repeat(65_536));
		},
		comes: 200,
		answer: 'x',
	},
	'breaks its body off': {
		does: (socket) => socket.end(`${OK}Content-Length: 1000\r\n\r\nok`),
		comes: 200,
		answer: 'ok',
	},
	'resets the connection within its body': {
		does: (socket) =>
			socket.write(`${OK}Content-Length: 1000\r\n\r\nok`, () => setTimeout(() => socket.resetAndDestroy(), 50)),
		comes: 200,
		answer: 'ok',
	},
	'announces more than it sends': {
		does: (socket) => socket.write(`${OK}Content-Length: 1000\r\n\r\nok`),
		within: 2,
		comes: 200,
		answer: 'ok',
	},
	'sends more than it announces': {
		does: (socket) => socket.write(`${OK}Content-Length: 2\r\n\r\nok and more`),
		comes: 200,
		answer: 'ok',
	},
	'sends a chunk that is none': {
		does: (socket) => socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n`),
		comes: 200,
		answer: 'ok',
	},
	'breaks the body of a 503 off': {
		does: (socket) => socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 900\r\nContent-Length: 9\r\n\r\n'),
		comes: 503,
	},
	'answers twice': {
		does: (socket) => socket.write(`${OK}Content-Length: 2\r\n\r\nok`.repeat(2)),
		comes: 200,
		answer: 'ok',
	},
	'answers before it reads': {
		does: (socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`),
		isAtOnce: true,
		comes: 200,
		answer: 'ok',
	},
	'sends headers that never end': {does: (socket) => drip(socket, OK, 'X-More: 1\r\n'), within: 0.2, comes: SILENT},
	'sends headers as fast as it can, without an end': {
		does: (socket) => {
			socket.write(OK);
			forEver(socket, `X-More: ${'x'.repeat(1000)}\r\n`);
		},
		comes: /Header overflow/,
	},
	'sends half a head and ends its side': {
		does: (socket) => socket.end('HTTP/1.1 20'),
		comes: /socket hang up|Parse Error/,
	},
	'ends its side without an answer': {does: (socket) => socket.end(), comes: /socket hang up/},
	'resets the connection': {does: (socket) => socket.resetAndDestroy(), comes: /ECONNRESET|socket hang up/},
	'speaks another protocol': {does: (socket) => socket.write('220 mail.example.com ESMTP\r\n'), comes: /Parse Error/},
	'never answers': {does: () => {}, within: 0.2, comes: SILENT},
	'stalls in the handshake of TLS': {does: () => {}, isAtOnce: true, isSecure: true, within: 0.2, comes: SILENT},
	'is cut off in the handshake of TLS': {
		does: (socket) => socket.end(),
		isAtOnce: true,
		isSecure: true,
		comes: /before secure TLS connection was established/,
	},
};

for (const [what, {does, isAtOnce, isSecure, within = 60, comes, answer}] of Object.entries(peers)) {
	const outcome = typeof comes === 'number' ? `is a ${comes}` : 'fails';
	test(`an attempt at an endpoint that ${what} ends in time and ${outcome}`, async (t) => {
		const closed: Array<Promise<unknown>> = [];
		// Half-closed by the caller alone, it stays open on this side.
		const server = createServer({allowHalfOpen: true}, (socket) => {
			closed.push(once(socket, 'close').catch(() => {}));
			socket.on('error', () => {});
			isAtOnce ? does(socket) : socket.once('data', () => does(socket));
			socket.resume();
			socket.on('end', () => socket.end());
		});
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const senders = createSenders();
		t.teardown(() => server.close());
		const tried = await sendDelivery(
			{...outgoing, url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/`},
			{now: new Date(0), timeoutSeconds: within, rules, senders},
		);
		if (typeof comes === 'number') {
			t.deepEqual([tried.status, tried.error, hasSucceeded(tried)], [comes, null, comes === 200]);
			t.true(tried.answer?.startsWith(answer ?? ''));
			t.is(tried.retryAfter, comes === 503 ? 900 : null);
		} else {
			t.is(tried.status, null);
			t.regex(tried.error ?? '', comes);
		}

		// What may be used again is closed here, everything else has been.
		senders.http.destroy();
		senders.https.destroy();
		await Promise.all(closed);
	});
}

import type {IncomingMessage} from 'node:http';
import {Socket} from 'node:net';
import {setTimeout as pause} from 'node:timers/promises';

/** How much is read of a body that nobody needs any more, and for how long: as long as of one that is needed (body.ts). */
const REST_BYTES = 1024 * 1024;
const REST_MS = 30_000;
/** How long the sender may take to read the answer where its body goes on beyond that. */
const LINGER_MS = 2000;
const CHECK_MS = 50;

/** Reads on until the body ends, or it comes to more than that. */
const readRest = async (request: IncomingMessage): Promise<void> => {
	const {socket} = request;
	const end = performance.now() + REST_MS;
	const most = socket.bytesRead + REST_BYTES;
	let isClosed = false;
	const closed = new Promise<void>((resolve) => {
		request.once('close', () => {
			isClosed = true;
			resolve();
		});
	});
	request.resume();
	while (!request.complete && !isClosed && socket.bytesRead < most && performance.now() < end) {
		await Promise.race([closed, pause(CHECK_MS, undefined, {ref: false})]);
	}
};

/**
 * Ends a connection whose sender goes on: this side at once, and the whole when the sender had time to read the answer.
 * Nothing is read meanwhile, so that the sender has to wait, and looks for an answer.
 */
const hangUp = (socket: Socket): void => {
	socket.pause();
	socket.end();
	const late = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(late));
};

/**
 * Keeps a connection from being closed while its request's body still comes. TCP resets a connection that is closed
 * with bytes unread, and who sends, such as a proxy, then loses the answer. The rest is read and dropped, within
 * bounds, so that a body without an end keeps no connection.
 */
export const createBodyKeeper = () => {
	const requests = new WeakMap<Socket, IncomingMessage>();
	/** Those that Node would have closed after the answer. */
	const postponed = new WeakSet<Socket>();
	return {
		/** Call for each connection. */
		connected: (socket: Socket): void => {
			// What Node's HTTP server calls after the last answer of a connection.
			socket.destroySoon = () => {
				if (requests.get(socket)?.complete === false) {
					postponed.add(socket);
				} else {
					Socket.prototype.destroySoon.call(socket);
				}
			};
		},
		/** Call for each request. */
		came: (request: IncomingMessage): void => {
			requests.set(request.socket, request);
		},
		/** Call when an answer is sent, or its connection is gone. */
		answered: async (request: IncomingMessage): Promise<void> => {
			const {socket} = request;
			if (request.complete || socket.destroyed) {
				return;
			}

			await readRest(request);
			if (!request.complete) {
				hangUp(socket);
			} else if (postponed.has(socket)) {
				Socket.prototype.destroySoon.call(socket);
			}
		},
	};
};

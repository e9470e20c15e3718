import {type IncomingMessage, type ServerResponse, STATUS_CODES} from 'node:http';
import {Socket} from 'node:net';
import {setTimeout as pause} from 'node:timers/promises';

/** How much is read of a body that nobody needs any more, and for how long: as long as of one that is needed (body.ts). */
const REST_BYTES = 1024 * 1024;
const REST_MS = 30_000;
/** How long the sender may take to read the answer where its body goes on beyond that. */
const LINGER_MS = 2000;
const CHECK_MS = 50;

const TOO_SLOW = 408;

/** Answers to what is no request of HTTP, by the code of Node's error: those that Node gives by itself. */
const BELOW_HTTP: Readonly<Record<string, number>> = {
	HPE_HEADER_OVERFLOW: 431,
	HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
	ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
};

type Exchange = {request: IncomingMessage; response: ServerResponse};

/** Reads on until `isOver`, at the latest at the `close` of what is read, or what is read comes to more than that. */
const readRest = async (read: Socket | IncomingMessage, socket: Socket, isOver: () => boolean): Promise<void> => {
	const end = performance.now() + REST_MS;
	const most = socket.bytesRead + REST_BYTES;
	let isClosed = false;
	const closed = new Promise<void>((resolve) => {
		read.once('close', () => {
			isClosed = true;
			resolve();
		});
	});
	read.resume();
	while (!isOver() && !isClosed && socket.bytesRead < most && performance.now() < end) {
		await Promise.race([closed, pause(CHECK_MS, undefined, {ref: false})]);
	}
};

/**
 * Ends a connection whose sender goes on: this side at once, and the whole when the sender had time to read the answer.
 * Nothing is read meanwhile, so that the sender has to wait, and looks for an answer.
 */
const hangUp = (socket: Socket, lastWords = ''): void => {
	socket.pause();
	socket.end(lastWords);
	const late = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(late));
};

/** Ends this side of a connection, and reads on until the sender does the same. */
const endAndRead = async (socket: Socket, lastWords = ''): Promise<void> => {
	socket.end(lastWords);
	// Whoever listens for this takes the connection from the parser of Node.
	socket.on('data', () => {});
	await readRest(socket, socket, () => socket.destroyed);
	if (!socket.destroyed) {
		hangUp(socket);
	}
};

/** The answer to what Node could not read as a request; null where the connection itself failed. */
const answerBelowHttp = (code = ''): {status: number; text: string} | null => {
	const status = BELOW_HTTP[code] ?? (code.startsWith('HPE_') ? 400 : null);
	return status === null
		? null
		: {
				status,
				text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
			};
};

/**
 * Keeps a connection from being closed while its sender still sends. TCP resets a connection that is closed
 * with bytes unread, and who sends, such as a proxy, then loses the answer. The rest is read and dropped, within
 * bounds, so that a body without an end keeps no connection.
 */
export const createBodyKeeper = () => {
	const exchanges = new WeakMap<Socket, Exchange>();
	/** Those that Node would have closed after the answer. */
	const postponed = new WeakSet<Socket>();
	/** Those that sent what is no HTTP. Node says so once more for what follows. */
	const malformed = new WeakSet<Socket>();
	return {
		/** Call for each connection. */
		connected: (socket: Socket): void => {
			// What Node's HTTP server calls after the last answer of a connection.
			socket.destroySoon = () => {
				const exchange = exchanges.get(socket);
				if (exchange === undefined) {
					// Node has answered by itself, such as a request without a Host.
					void endAndRead(socket);
				} else if (exchange.request.complete) {
					Socket.prototype.destroySoon.call(socket);
				} else {
					postponed.add(socket);
				}
			};
		},
		/** Call for each request. */
		came: (request: IncomingMessage, response: ServerResponse): void => {
			exchanges.set(request.socket, {request, response});
		},
		/** Call when an answer is sent, or its connection is gone. */
		answered: async (request: IncomingMessage): Promise<void> => {
			const {socket} = request;
			// Who was too slow has had its time.
			const isAwaited = exchanges.get(socket)?.response.statusCode !== TOO_SLOW;
			if (!request.complete && !socket.destroyed && isAwaited) {
				await readRest(request, socket, () => request.complete);
			}

			if (socket.destroyed || malformed.has(socket)) {
				return;
			}

			if (!request.complete) {
				hangUp(socket);
			} else if (postponed.has(socket)) {
				Socket.prototype.destroySoon.call(socket);
			} else if (exchanges.get(socket)?.request === request) {
				exchanges.delete(socket);
			}
		},
		/** Call for each `clientError` of the server: nothing more of such a connection is a request. */
		failed: ({code}: NodeJS.ErrnoException, socket: Socket): void => {
			if (malformed.has(socket)) {
				return;
			}

			malformed.add(socket);
			const answer = answerBelowHttp(code);
			if (answer === null || !socket.writable) {
				socket.destroy();
				return;
			}

			const {request, response} = exchanges.get(socket) ?? {};
			if (answer.status === TOO_SLOW) {
				hangUp(socket, answer.text);
			} else if (request?.complete && !response?.writableFinished) {
				// What came before it is answered first.
				response?.once('close', () => void (socket.writable && endAndRead(socket, answer.text)));
			} else {
				void endAndRead(socket, request?.complete === false && response?.headersSent ? '' : answer.text);
			}
		},
	};
};

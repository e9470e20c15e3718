import {type IncomingMessage, type ServerResponse, STATUS_CODES} from 'node:http';
import {Socket} from 'node:net';
import {setTimeout as pause} from 'node:timers/promises';

/** Bounds of reading an unneeded body: its bytes, and the time that a needed one may take (body.ts). */
const REST_BYTES = 1024 * 1024;
const REST_MS = 30_000;
/** How long the sender of a longer body may take to read the answer. */
const LINGER_MS = 2000;
const CHECK_MS = 50;

const TOO_SLOW = 408;

/** Status of the answer to a malformed request, by the code of Node's error; Node answers with the same. */
const MALFORMED_STATUSES: Readonly<Record<string, number>> = {
	HPE_HEADER_OVERFLOW: 431,
	HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
	ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
};

/** A connection, and its latest request while that is not answered. */
export type Connection = {
	request: IncomingMessage | null;
	response: ServerResponse | null;
	/** Node would have closed it after the answer. */
	isPostponed: boolean;
	/** A malformed request arrived. Node reports it again for the bytes that follow. */
	isMalformed: boolean;
};

/** Reads until `isOver`, at the latest until `close` or REST_BYTES. */
const readRest = async (read: Socket | IncomingMessage, socket: Socket, isOver: () => boolean): Promise<void> => {
	const end = performance.now() + REST_MS;
	const maxRead = socket.bytesRead + REST_BYTES;
	let isClosed = false;
	const closed = new Promise<void>((resolve) => {
		read.once('close', () => {
			isClosed = true;
			resolve();
		});
	});
	read.resume();
	while (!isOver() && !isClosed && socket.bytesRead < maxRead && performance.now() < end) {
		await Promise.race([closed, pause(CHECK_MS, undefined, {ref: false})]);
	}
};

/**
 * Ends a connection whose sender goes on: this side at once, and the rest after LINGER_MS. Nothing is read meanwhile, because a
 * sender that has to wait reads the answer.
 */
const hangUp = (socket: Socket, lastWords = ''): void => {
	socket.pause();
	socket.end(lastWords);
	const late = setTimeout(() => socket.destroy(), LINGER_MS);
	socket.once('close', () => clearTimeout(late));
};

/** Ends this side of a connection, and reads until the sender ends its own. */
const endAndRead = async (socket: Socket, lastWords = ''): Promise<void> => {
	socket.end(lastWords);
	// A listener for this event detaches the connection from Node's parser.
	socket.on('data', () => {});
	await readRest(socket, socket, () => socket.destroyed);
	if (!socket.destroyed) {
		hangUp(socket);
	}
};

/** The answer to a malformed request; null if the connection itself failed. */
const answerMalformed = (code = ''): {status: number; text: string} | null => {
	const status = MALFORMED_STATUSES[code] ?? (code.startsWith('HPE_') ? 400 : null);
	return status === null
		? null
		: {
				status,
				text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
			};
};

const release = (connection: Connection, request: IncomingMessage): void => {
	if (connection.request === request) {
		connection.request = null;
		connection.response = null;
	}
};

const finish = async (connection: Connection, request: IncomingMessage, response: ServerResponse): Promise<void> => {
	const {socket} = request;
	// A sender that was too slow gets no more time.
	if (!request.complete && !socket.destroyed && response.statusCode !== TOO_SLOW) {
		await readRest(request, socket, () => request.complete);
	}

	if (socket.destroyed || connection.isMalformed) {
		return;
	}

	if (!request.complete) {
		hangUp(socket);
	} else if (connection.isPostponed) {
		Socket.prototype.destroySoon.call(socket);
	} else {
		release(connection, request);
	}
};

/**
 * Keeps a connection open while its sender still sends. TCP resets a connection that is closed with unread bytes, and
 * the sender, such as a proxy, then loses the answer. The rest is read and dropped, within bounds, because an endless
 * body must not keep a connection.
 */
export const createBodyKeeper = (connections: Map<Socket, Connection>) => {
	/** An answer is sent, or its connection is gone. One function for all requests. */
	function answered(this: ServerResponse): void {
		const {req: request} = this;
		const connection = connections.get(request.socket);
		if (connection !== undefined && request.complete && !connection.isPostponed && !connection.isMalformed) {
			release(connection, request);
		} else if (connection !== undefined) {
			void finish(connection, request, this);
		}
	}

	return {
		/** Call for each connection. */
		connected: (socket: Socket): void => {
			const connection: Connection = {request: null, response: null, isPostponed: false, isMalformed: false};
			connections.set(socket, connection);
			// Node's HTTP server calls this after the last answer of a connection.
			socket.destroySoon = () => {
				if (connection.request === null) {
					// Node has answered, such as a request without a Host.
					void endAndRead(socket);
				} else if (connection.request.complete) {
					Socket.prototype.destroySoon.call(socket);
				} else {
					connection.isPostponed = true;
				}
			};
		},
		/** Call for each request. */
		came: (request: IncomingMessage, response: ServerResponse): void => {
			const connection = connections.get(request.socket);
			if (connection !== undefined) {
				connection.request = request;
				connection.response = response;
				response.on('close', answered);
			}
		},
		/** Call for each `clientError` of the server: the connection sends no more valid requests. */
		failed: ({code}: NodeJS.ErrnoException, socket: Socket): void => {
			const connection = connections.get(socket);
			if (connection?.isMalformed) {
				return;
			}

			const answer = answerMalformed(code);
			if (connection === undefined || answer === null || !socket.writable) {
				socket.destroy();
				return;
			}

			connection.isMalformed = true;
			const {request, response} = connection;
			if (answer.status === TOO_SLOW) {
				hangUp(socket, answer.text);
			} else if (request?.complete && !response?.writableFinished) {
				// Earlier requests of the connection are answered first.
				response?.once('close', () => void (socket.writable && endAndRead(socket, answer.text)));
			} else {
				void endAndRead(socket, request?.complete === false && response?.headersSent ? '' : answer.text);
			}
		},
	};
};

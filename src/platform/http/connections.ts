import {readFileSync} from 'node:fs';
import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import type {Logger} from 'pino';
import {type Connection, createBodyKeeper} from './rest-of-body.ts';

/**
 * A stop ends idle connections once no request has arrived for this part of its time, or after ten times that.
 */
const QUIET_PART = 1 / 50;
const PAUSE_MS = 5;

/**
 * Manages the connections of a server: closes those above `max` at once, and lets a stop finish requests in progress.
 * Otherwise a keep-alive connection whose answer is sent during the stop would stay open, idle, until the deadline. A
 * connection that seems idle may have a request in flight: it is answered with `Connection: close` first.
 */
export const watchConnections = (server: Server, {max, log}: {max: number; log: Logger}) => {
	// Changes with each connection, not with each request: the tables that a busy Set or Map leaves behind keep their
	// former entries alive, which cost a quarter of a page (docs/measurements.md).
	const connections = new Map<Socket, Connection>();
	const bodies = createBodyKeeper(connections);
	let stopping = false;
	/** Whether a connection or a request has arrived since it was last reset. */
	let hasCome = false;

	const endIdle = (): void => {
		server.closeIdleConnections();
		for (const socket of connections.keys()) {
			// Node counts a connection that never sent anything as busy.
			if (socket.bytesRead === 0) {
				socket.destroy();
			}
		}
	};

	const endAll = (): void => {
		for (const socket of connections.keys()) {
			socket.destroy();
		}
	};

	server.on('connection', (socket: Socket) => {
		if (connections.size >= max) {
			socket.destroy();
			log.error({connections: max}, 'closing a connection: MAX_CONNECTIONS is reached');
			return;
		}

		hasCome = true;
		bodies.connected(socket);
		socket.once('close', () => connections.delete(socket));
	});

	server.on('clientError', bodies.failed);

	return {
		/** Call for each request, before it is answered. */
		watch: (request: IncomingMessage, response: ServerResponse): void => {
			hasCome = true;
			response.shouldKeepAlive &&= !stopping;
			bodies.came(request, response);
		},
		/** Call when no more connections arrive. Resolves when all are closed; after `seconds` the rest is destroyed. */
		finish: async (seconds: number): Promise<void> => {
			stopping = true;
			for (const {response} of connections.values()) {
				if (response !== null) {
					response.shouldKeepAlive = false;
				}
			}

			const began = performance.now();
			const quietMs = seconds * 1000 * QUIET_PART;
			// Counted in turns, not by the clock: if this process had to wait for the machine, its clients had to as well.
			for (let quiet = 0; connections.size > 0 && quiet < quietMs && performance.now() < began + 10 * quietMs; ) {
				hasCome = false;
				await pause(PAUSE_MS);
				// Timers run before sockets are read: bytes that arrived during the pause are read in the rest of the turn.
				await nextTurn();
				quiet = hasCome ? 0 : quiet + PAUSE_MS;
			}

			while (connections.size > 0) {
				(performance.now() < began + seconds * 1000 ? endIdle : endAll)();
				await pause(PAUSE_MS);
			}
		},
	};
};

/** Open files besides connections: the database, Redis, the journal, those of Node itself. */
const OTHER_FILES = 128;

/** The limit of open files of this process; null if unknown. Node raises it to the hard limit. */
const openFilesLimit = (): number | null => {
	try {
		const [, limit = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
		return limit === '' ? null : Number(limit);
	} catch {
		// Only Linux has this file.
		return null;
	}
};

/** The wanted number of connections, bounded by the limit of open files, of which each connection needs one. */
export const connectionsWithin = (wanted: number, limit = openFilesLimit()): number =>
	limit === null ? wanted : Math.max(1, Math.min(wanted, limit - OTHER_FILES));

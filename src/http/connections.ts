import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Entrance} from './entrance.ts';
import {createBodyKeeper} from './rest-of-body.ts';

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
	const sockets = new Set<Socket>();
	const underWay = new Set<ServerResponse>();
	const bodies = createBodyKeeper();
	let stopping = false;
	let endsIdle = false;
	/** Whether a connection or a request has arrived since it was last reset. */
	let hasCome = false;
	let onGone = (): void => {};

	const endIdle = (): void => {
		server.closeIdleConnections();
		for (const socket of sockets) {
			// Node counts one that never sent anything as busy.
			if (socket.bytesRead === 0) {
				socket.destroy();
			}
		}
	};

	server.on('connection', (socket: Socket) => {
		if (sockets.size >= max) {
			socket.destroy();
			log.error({connections: max}, 'closing a connection: MAX_CONNECTIONS is reached');
			return;
		}

		hasCome = true;
		sockets.add(socket);
		bodies.connected(socket);
		socket.once('close', () => {
			sockets.delete(socket);
			onGone();
		});
	});

	server.on('clientError', bodies.failed);

	return {
		/** Call for each request, before it is answered. */
		watch: (request: IncomingMessage, response: ServerResponse): void => {
			hasCome = true;
			response.shouldKeepAlive &&= !stopping;
			underWay.add(response);
			bodies.came(request, response);
			response.once('close', () => {
				underWay.delete(response);
				void bodies.answered(request);
				if (endsIdle) {
					setImmediate(endIdle);
				}
			});
		},
		/** Resolves when no connection is left; those left after `seconds` are destroyed. */
		finish: async (entrance: Entrance, seconds: number): Promise<void> => {
			stopping = true;
			for (const response of underWay) {
				response.shouldKeepAlive = false;
			}

			const deadline = setTimeout(() => {
				for (const socket of sockets) {
					socket.destroy();
				}
			}, seconds * 1000);
			await entrance.close();
			const quietMs = seconds * 1000 * QUIET_PART;
			const end = performance.now() + 10 * quietMs;
			// Counted in turns, not by the clock: where this process had to wait for the machine, its clients had to as well.
			for (let quiet = 0; sockets.size > 0 && quiet < quietMs && performance.now() < end; quiet += PAUSE_MS) {
				hasCome = false;
				await pause(PAUSE_MS);
				// Timers run before sockets are read: what arrived during the pause is read in the rest of the turn.
				await nextTurn();
				if (hasCome) {
					quiet = 0;
				}
			}

			endsIdle = true;
			endIdle();
			await new Promise<void>((resolve) => {
				onGone = () => sockets.size === 0 && resolve();
				onGone();
			});
			clearTimeout(deadline);
		},
	};
};

import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Entrance} from './entrance.ts';
import {createBodyKeeper} from './rest-of-body.ts';

/**
 * A stop waits until no request has come for this part of its time, and at most for ten times that, before it ends idle
 * connections.
 */
const QUIET_PART = 1 / 50;
const PAUSE_MS = 5;

/**
 * Looks after the connections of a server: closes those above `max` at once, and lets it finish what is under way.
 * Without that a keep-alive connection whose answer comes during the stop would stay open, idle, until the deadline.
 * One that seems idle may have a request on its way, or in the socket already: those are answered, and their answers say
 * that the connection ends, before it does.
 */
export const watchConnections = (server: Server, {max, log}: {max: number; log: Logger}) => {
	const sockets = new Set<Socket>();
	const underWay = new Set<ServerResponse>();
	const bodies = createBodyKeeper();
	let stopping = false;
	let endsIdle = false;
	/** Whether a connection or a request came since it was last asked for. */
	let hasCome = false;
	let onGone = (): void => {};

	const endIdle = (): void => {
		server.closeIdleConnections();
		for (const socket of sockets) {
			// Node counts one that never said anything as busy.
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
		/** Resolves when no connection is left: those that are still there after `seconds` are cut off. */
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
				// Timers come before the sockets are read: what came during the pause is heard of in the rest of the turn.
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

import type {Worker} from 'node:cluster';
import {createServer, type Server, type Socket} from 'node:net';
import type {SupervisorMessage} from './supervisor-messages.ts';

/** How long a connection waits for a worker where none answers. */
const WAIT_MS = 10_000;

/** Hands the connections of a port over to workers, in turn. */
export type HandOver = {
	/** What accepts connections. */
	listener: Server;
	/** Gives a worker that can answer its share, until `leave`. */
	join(worker: Worker): void;
	/** A worker has got the connection that was sent to it. */
	taken(worker: Worker): void;
	/** Gives a worker nothing more. What it is sent after this comes after its last connection. */
	leave(worker: Worker): void;
	/** Hands over what still waits; without any worker it is closed. */
	finish(): void;
};

/**
 * A worker is sent one connection at a time, and the next when it has that one: what waits for a worker that dies waits
 * here, for another. Node's own `cluster` loses connections that are on their way when the last worker stops
 * listening, which is every stop.
 */
export const createHandOver = ({maxWaiting}: {maxWaiting: number}): HandOver => {
	/** Workers that answer, by whether one is on its way to them. The order is whose turn it is. */
	const members = new Map<Worker, 'free' | 'busy'>();
	let waiting: Socket[] = [];

	const send = (worker: Worker, socket: Socket): void => {
		const message: SupervisorMessage = {is: 'connection'};
		// A worker that is gone by now is heard of by its exit.
		worker.send(message, socket, () => {});
	};

	const distribute = (): void => {
		for (const [worker, state] of members) {
			const socket = state === 'free' && worker.isConnected() ? waiting.shift() : undefined;
			if (socket !== undefined) {
				members.delete(worker);
				members.set(worker, 'busy');
				send(worker, socket);
			}
		}
	};

	const listener = createServer({allowHalfOpen: true, pauseOnConnect: true, noDelay: true}, (socket) => {
		const forget = (): void => {
			waiting = waiting.filter((one) => one !== socket);
		};
		socket.setTimeout(WAIT_MS);
		socket.on('timeout', () => {
			if (members.size === 0) {
				forget();
				socket.destroy();
			} else {
				// A worker that is busy takes it later.
				socket.setTimeout(WAIT_MS);
			}
		});
		socket.on('error', forget);
		waiting.push(socket);
		distribute();
	});
	listener.maxConnections = maxWaiting;

	return {
		listener,
		join: (worker) => {
			members.set(worker, 'free');
			distribute();
		},
		taken: (worker) => {
			if (members.has(worker)) {
				members.set(worker, 'free');
				distribute();
			}
		},
		leave: (worker) => {
			members.delete(worker);
			distribute();
		},
		finish: () => {
			const open = [...members.keys()].filter((worker) => worker.isConnected());
			for (const [index, socket] of waiting.entries()) {
				const worker = open[index % open.length];
				if (worker === undefined) {
					socket.destroy();
				} else {
					send(worker, socket);
				}
			}

			waiting = [];
		},
	};
};

import type {Worker} from 'node:cluster';
import {createServer, type Server, type Socket} from 'node:net';
import type {SupervisorMessage} from './supervisor-messages.ts';

/** How long a connection waits for a worker if none is ready. */
const WAIT_MS = 10_000;

/** Distributes the connections of a port to workers, in turn. */
export type HandOver = {
	/** The listening server. */
	listener: Server;
	/** Adds a ready worker to the rotation, until `leave`. */
	join(worker: Worker): void;
	/** A worker has acknowledged its last connection. */
	taken(worker: Worker): void;
	/** Removes a worker from the rotation. A later message to it arrives after its last connection. */
	leave(worker: Worker): void;
	/** From now on connections wait, while the listener closes. */
	hold(): void;
	/** Distributes the waiting connections; without any worker they are closed. */
	finish(): void;
};

/**
 * A worker is sent one connection at a time, and the next after its acknowledgement. A connection that waits for a
 * worker that dies stays here for another one. Node's own `cluster` loses connections in transit when the last worker
 * stops listening, which happens at every stop.
 */
export const createHandOver = ({maxWaiting}: {maxWaiting: number}): HandOver => {
	/** Ready workers, by whether a connection is in transit to them. The order is that of the rotation. */
	const members = new Map<Worker, 'free' | 'busy'>();
	let waiting: Socket[] = [];
	let isHeld = false;

	const send = (worker: Worker, socket: Socket): void => {
		const message: SupervisorMessage = {is: 'connection'};
		// If the worker is gone, its exit event follows.
		worker.send(message, socket, () => {});
	};

	const distribute = (): void => {
		for (const [worker, state] of members) {
			const socket = !isHeld && state === 'free' && worker.isConnected() ? waiting.shift() : undefined;
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
				// A busy worker takes it later.
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
		hold: () => {
			isHeld = true;
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

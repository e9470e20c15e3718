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
	/** A worker has acknowledged the oldest connection in transit to it. */
	taken(worker: Worker): void;
	/** Removes a worker from the rotation. A later message to it arrives after its last connection. */
	leave(worker: Worker): void;
	/** A worker has ended: others get the connections that were in transit to it. */
	ended(worker: Worker): void;
	/** From now on connections wait, while the listener closes. */
	hold(): void;
	/** Distributes the waiting connections; without any worker they are closed. */
	finish(): void;
};

/**
 * A worker is sent one connection at a time, and the next after its acknowledgement. A connection stays open here until
 * then: Node leaves a connection in transit to a killed worker open without a reader, and its client would wait forever.
 * Node's own `cluster` also loses those in transit when the last worker stops listening, which happens at every stop.
 */
export const createHandOver = ({maxWaiting}: {maxWaiting: number}): HandOver => {
	/** Ready workers, in the order of the rotation. */
	const members = new Set<Worker>();
	const inTransit = new Map<Worker, Socket[]>();
	let waiting: Socket[] = [];
	let isHeld = false;

	const send = (worker: Worker, socket: Socket): void => {
		inTransit.set(worker, [...(inTransit.get(worker) ?? []), socket]);
		socket.setTimeout(0);
		const message: SupervisorMessage = {is: 'connection'};
		worker.send(message, socket, {keepOpen: true}, () => {});
	};

	const distribute = (): void => {
		for (const worker of members) {
			const socket = !isHeld && !inTransit.has(worker) && worker.isConnected() ? waiting.shift() : undefined;
			if (socket !== undefined) {
				members.delete(worker);
				members.add(worker);
				send(worker, socket);
			}
		}
	};

	const wait = (sockets: Socket[]): void => {
		for (const socket of sockets) {
			socket.setTimeout(WAIT_MS);
		}

		distribute();
	};

	const listener = createServer({allowHalfOpen: true, pauseOnConnect: true, noDelay: true}, (socket) => {
		const forget = (): void => {
			waiting = waiting.filter((one) => one !== socket);
		};
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
		wait([socket]);
	});
	listener.maxConnections = maxWaiting;

	const finish = (): void => {
		const open = [...members].filter((worker) => worker.isConnected());
		for (const [index, socket] of waiting.entries()) {
			const worker = open[index % open.length];
			if (worker === undefined) {
				socket.destroy();
			} else {
				send(worker, socket);
			}
		}

		waiting = [];
	};

	return {
		listener,
		join: (worker) => {
			members.add(worker);
			distribute();
		},
		taken: (worker) => {
			const [socket, ...later] = inTransit.get(worker) ?? [];
			socket?.destroy();
			if (later.length > 0) {
				inTransit.set(worker, later);
			} else {
				inTransit.delete(worker);
			}

			distribute();
		},
		leave: (worker) => {
			members.delete(worker);
		},
		ended: (worker) => {
			members.delete(worker);
			const returned = inTransit.get(worker) ?? [];
			inTransit.delete(worker);
			waiting.unshift(...returned);
			if (isHeld) {
				finish();
			} else {
				wait(returned);
			}
		},
		hold: () => {
			isHeld = true;
		},
		finish,
	};
};

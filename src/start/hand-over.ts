import type {Worker} from 'node:cluster';
import {createServer, type Server, type Socket} from 'node:net';
import type {SupervisorMessage} from './supervisor-channel.ts';

/** How long a connection waits for a worker if none is ready. */
const WAIT_MS = 10_000;

/**
 * Distributes the connections of a port to workers, in turn. A worker is sent one connection at a time, and the next after
 * its acknowledgement. A connection stays open here until then: Node leaves a connection in transit to a killed worker open
 * without a reader, and its client would wait forever. Node's own `cluster` also loses those in transit when the last
 * worker stops listening, which happens at every stop.
 */
export class HandOver {
	readonly listener: Server;
	/** Ready workers, in the order of the rotation. */
	readonly #members = new Set<Worker>();
	readonly #inTransit = new Map<Worker, Socket[]>();
	#waiting: Socket[] = [];
	#isHeld = false;

	constructor({maxWaiting}: {maxWaiting: number}) {
		this.listener = createServer({allowHalfOpen: true, pauseOnConnect: true, noDelay: true}, (socket) => {
			const forget = (): void => {
				this.#waiting = this.#waiting.filter((one) => one !== socket);
			};
			socket.on('timeout', () => {
				if (this.#members.size === 0) {
					forget();
					socket.destroy();
				} else {
					// A busy worker takes the connection later.
					socket.setTimeout(WAIT_MS);
				}
			});
			socket.on('error', forget);
			this.#waiting.push(socket);
			this.#wait([socket]);
		});
		this.listener.maxConnections = maxWaiting;
	}

	/** Adds a ready worker to the rotation, until `leave`. */
	join(worker: Worker): void {
		this.#members.add(worker);
		this.#distribute();
	}

	/** A worker has acknowledged the oldest connection in transit to it. */
	taken(worker: Worker): void {
		const [socket, ...later] = this.#inTransit.get(worker) ?? [];
		socket?.destroy();
		if (later.length > 0) {
			this.#inTransit.set(worker, later);
		} else {
			this.#inTransit.delete(worker);
		}

		this.#distribute();
	}

	/** Removes a worker from the rotation. A later message to it arrives after its last connection. */
	leave(worker: Worker): void {
		this.#members.delete(worker);
	}

	/** A worker has ended: others get the connections that were in transit to it. */
	ended(worker: Worker): void {
		this.#members.delete(worker);
		const returned = this.#inTransit.get(worker) ?? [];
		this.#inTransit.delete(worker);
		this.#waiting.unshift(...returned);
		if (this.#isHeld) {
			this.finish();
		} else {
			this.#wait(returned);
		}
	}

	/** From now on connections wait, while the listener closes. */
	hold(): void {
		this.#isHeld = true;
	}

	/** Distributes the waiting connections; without any worker they are closed. */
	finish(): void {
		const open = [...this.#members].filter((worker) => worker.isConnected());
		for (const [index, socket] of this.#waiting.entries()) {
			const worker = open[index % open.length];
			if (worker === undefined) {
				socket.destroy();
			} else {
				this.#send(worker, socket);
			}
		}

		this.#waiting = [];
	}

	#send(worker: Worker, socket: Socket): void {
		this.#inTransit.set(worker, [...(this.#inTransit.get(worker) ?? []), socket]);
		socket.setTimeout(0);
		const message: SupervisorMessage = {type: 'connection'};
		worker.send(message, socket, {keepOpen: true}, () => {});
	}

	#distribute(): void {
		for (const worker of this.#members) {
			const isFree = !this.#isHeld && !this.#inTransit.has(worker) && worker.isConnected();
			const socket = isFree ? this.#waiting.shift() : undefined;
			if (socket !== undefined) {
				this.#members.delete(worker);
				this.#members.add(worker);
				this.#send(worker, socket);
			}
		}
	}

	#wait(sockets: Socket[]): void {
		for (const socket of sockets) {
			socket.setTimeout(WAIT_MS);
		}

		this.#distribute();
	}
}

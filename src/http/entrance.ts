import type {Server} from 'node:http';
import {type Socket, Server as TcpServer} from 'node:net';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {type ListenAddress, listenAt} from '../start/port.ts';

/** The source of a server's connections. */
export type Entrance = {
	/** Begins to accept connections. @returns their port. */
	open(server: Server): Promise<number>;
	/** Resolves when all that arrived are accepted, and no more will be. */
	close(): Promise<void>;
};

/** A turn of the event loop accepts one connection. A bound on turns, in case more keep coming. */
const MOST_TURNS = 10_000;

/**
 * Stops a server from listening. Linux then resets connections that wait to be accepted, so this waits for a turn in
 * which none arrived: all that arrived before the call are accepted.
 */
export const closeListener = async (server: TcpServer): Promise<void> => {
	let came = 0;
	server.on('connection', () => {
		came += 1;
	});
	let before = -1;
	for (let turn = 0; before !== came && turn < MOST_TURNS; turn += 1) {
		before = came;
		// The first turn is a partial one, which may have looked for connections already.
		await (turn === 0 ? nextTurn() : null);
		await nextTurn();
	}

	// The `close` of an HTTP server would end idle connections at once.
	TcpServer.prototype.close.call(server);
};

/** A port that this process listens on by itself. */
export const ownPort = (address: ListenAddress): Entrance => {
	let close = async (): Promise<void> => {};
	return {
		open: (server) => {
			close = () => closeListener(server);
			return listenAt(server, address);
		},
		close: () => close(),
	};
};

/**
 * Connections that another process has accepted and hands over.
 * @param onSocket registers the receiver. The sender stops before the server is stopped.
 */
export const handedOver = (port: number, onSocket: (take: (socket: Socket) => void) => void): Entrance => ({
	open: async (server) => {
		// On this event Node starts its time limits for slow senders; a server that listens by itself emits it.
		server.emit('listening');
		onSocket((socket) => {
			// As an HTTP server sets it on connections that it accepts: a client that has sent all still reads the answer.
			socket.allowHalfOpen = true;
			server.emit('connection', socket);
		});
		return port;
	},
	close: async () => {},
});

import type {Server} from 'node:http';
import {type Socket, Server as TcpServer} from 'node:net';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import {type ListenAddress, listenAt} from './port.ts';

/** The source of a server's connections. */
export type Entrance = {
	/** Begins to accept connections. @returns their port. */
	open(server: Server): Promise<number>;
	/** Resolves when all connections that arrived are accepted, and no more will be. */
	close(): Promise<void>;
};

/** The time without a new connection after which none is on its way, and the longest wait for it. */
const QUIET_MS = 10;
const MAX_MS = 200;

/**
 * Stops a server from listening. Linux then resets connections that wait to be accepted, so this waits until none
 * arrives, and closes right after a check for more. The caller answers no request meanwhile.
 */
export const closeListener = async (server: TcpServer): Promise<void> => {
	let hasCome = true;
	server.on('connection', () => {
		hasCome = true;
	});
	for (let waited = 0; hasCome && waited < MAX_MS; waited += QUIET_MS) {
		hasCome = false;
		await pause(QUIET_MS);
		// Timers run before sockets are read: connections that arrived during the pause are accepted in the rest of the turn.
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
			// As an HTTP server sets it on its connections: a client that has ended its side still reads the answer.
			socket.allowHalfOpen = true;
			server.emit('connection', socket);
		});
		return port;
	},
	close: async () => {},
});

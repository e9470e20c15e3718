import type {Server} from 'node:http';
import {type Socket, Server as TcpServer} from 'node:net';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {type ListenAddress, listenAt} from '../start/port.ts';

/** Where the connections of a server come from. */
export type Entrance = {
	/** Lets connections in. @returns the port that they come to. */
	open(server: Server): Promise<number>;
	/** Resolves when all that came were let in, and no more do. */
	close(): Promise<void>;
};

/** A turn of the event loop accepts one connection. Where more keep coming than that, a stop waits for no end of them. */
const MOST_TURNS = 10_000;

/**
 * Stops a server from listening. Linux resets connections that wait to be accepted when that happens, so that it happens
 * at the end of a turn in which none came: those that came before the call are all let in.
 */
export const closeListener = async (server: TcpServer): Promise<void> => {
	let came = 0;
	server.on('connection', () => {
		came += 1;
	});
	let before = -1;
	for (let turn = 0; before !== came && turn < MOST_TURNS; turn += 1) {
		before = came;
		// The first time it is the rest of a turn, which may have looked for connections before.
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
 * @param onSocket is given what takes them. Whoever hands over stops it before the server is stopped.
 */
export const handedOver = (port: number, onSocket: (take: (socket: Socket) => void) => void): Entrance => ({
	open: async (server) => {
		// From this event on Node looks after slow senders; a server that listens by itself emits it.
		server.emit('listening');
		onSocket((socket) => {
			// As connections are that an HTTP server accepts by itself: who has sent all may still wait for the answer.
			socket.allowHalfOpen = true;
			server.emit('connection', socket);
		});
		return port;
	},
	close: async () => {},
});

import type {Server} from 'node:http';
import {createServer, type Socket, Server as TcpServer} from 'node:net';
import {setImmediate as nextTurn, setTimeout as pause} from 'node:timers/promises';
import {ConfigError} from '../config/config.ts';

/** The address that a server listens on. */
export type ListenAddress = {host: string; port: number};

/** The URL of a listener. */
export const listenerUrl = ({host, port}: ListenAddress): string =>
	`http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Starts listening. @throws the system's error: a port in use (EADDRINUSE) or not permitted (EACCES). */
export const listenAt = (server: TcpServer, {host, port}: ListenAddress): Promise<number> =>
	new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => {
			server.removeListener('error', reject);
			const address = server.address();
			resolve(address !== null && typeof address === 'object' ? address.port : port);
		});
	});

/**
 * Ends a start whose port is in use, or whose host does not exist, before it changes anything: the port itself is bound
 * late, when requests can be answered.
 * @throws ConfigError for a name without an address; else as `listenAt`.
 */
export const requireFreePort = async (address: ListenAddress): Promise<void> => {
	const probe = createServer();
	await listenAt(probe, address).catch((error: unknown) => {
		const {syscall, message} = error as NodeJS.ErrnoException;
		throw syscall === 'getaddrinfo'
			? new ConfigError([`HOST has no address (${message}): set it to an address of this machine, or to 0.0.0.0`])
			: error;
	});
	await new Promise((resolve) => probe.close(resolve));
};

/** The source of a server's connections. */
export type Entrance = {
	/** Begins to accept connections. @returns their port. */
	open(server: Server): Promise<number>;
	/** Resolves when all connections that arrived are accepted, and no more will be. */
	close(): Promise<void>;
};

/** After this time without a new connection, none is expected any more. */
const QUIET_MS = 10;
const MAX_WAIT_MS = 200;

/**
 * Stops a server from listening. Linux then resets connections that wait to be accepted, so this waits until none
 * arrives, and closes right after a check for more. The caller answers no request meanwhile.
 */
export const closeListener = async (server: TcpServer): Promise<void> => {
	let hasArrived = true;
	server.on('connection', () => {
		hasArrived = true;
	});
	for (let waited = 0; hasArrived && waited < MAX_WAIT_MS; waited += QUIET_MS) {
		hasArrived = false;
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
			// A client that has ended its side still reads the answer; an HTTP server sets this on connections of its own.
			socket.allowHalfOpen = true;
			server.emit('connection', socket);
		});
		return port;
	},
	close: async () => {},
});

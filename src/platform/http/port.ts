import {createServer, type Server} from 'node:net';
import {ConfigError} from '../config/config.ts';

/** The address that a server listens on. */
export type ListenAddress = {host: string; port: number};

/** The URL of a listener. */
export const listenerUrl = ({host, port}: ListenAddress): string =>
	`http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Starts listening. @throws the system's error: a port in use (EADDRINUSE) or not permitted (EACCES). */
export const listenAt = (server: Server, {host, port}: ListenAddress): Promise<number> =>
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

import {createServer, type Server} from 'node:net';

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
 * Ends a start whose port is in use before it changes anything: the port itself is bound late, when requests can be
 * answered.
 * @throws as `listenAt`.
 */
export const requireFreePort = async ({host, port}: ListenAddress): Promise<void> => {
	if (port !== 0) {
		const probe = createServer();
		await listenAt(probe, {host, port});
		await new Promise((resolve) => probe.close(resolve));
	}
};

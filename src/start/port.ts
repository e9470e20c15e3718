import {createServer, type Server} from 'node:net';

/** Where a server listens. */
export type Place = {host: string; port: number};

/** Has a server listen. @throws what the system refuses: a port that is taken (EADDRINUSE) or not allowed (EACCES). */
export const listenAt = (server: Server, {host, port}: Place): Promise<number> =>
	new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => {
			server.removeListener('error', reject);
			const address = server.address();
			resolve(address !== null && typeof address === 'object' ? address.port : port);
		});
	});

/**
 * Ends a start whose port is taken before it touches anything else: the port itself is bound late, when requests can be
 * answered. @throws as `listenAt`.
 */
export const requireFreePort = async ({host, port}: Place): Promise<void> => {
	if (port !== 0) {
		const probe = createServer();
		await listenAt(probe, {host, port});
		await new Promise((resolve) => probe.close(resolve));
	}
};

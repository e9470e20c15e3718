import pg from 'pg';

const breakOff = (client: object): void => {
	(client as {connection: {stream: {destroy(): void}}}).connection.stream.destroy();
};

/**
 * The open connections of a database. A statement may take any time, so one whose server is gone without a word would
 * be waited for until the operating system gives up, a quarter of an hour later. Those of connections that are broken
 * off here fail like those of lost ones.
 */
export type Connections = {
	/**
	 * A client that closes its connection if it cannot log in. The driver leaves it open if it gives up by itself, such as
	 * without a password, and keeps the process alive until PostgreSQL times out a minute later.
	 */
	create(settings: pg.ClientConfig): pg.Client;
	/** Notes the server that a connection leads to, as `setUpSession` names it. */
	note(client: object, server: string): void;
	/** Breaks off the connections to other servers than this one. @returns how many. */
	keepOnly(server: string): number;
	/** Breaks off all connections, and opens none any more. */
	end(): void;
};

export const createConnections = (): Connections => {
	/** The server of each; null until it is noted. */
	const open = new Map<object, string | null>();
	let isOver = false;

	return {
		create: (settings) => {
			const client = new pg.Client(settings);
			client.once('end', () => open.delete(client));
			const connect = client.connect.bind(client) as () => Promise<unknown>;
			return Object.assign(client, {
				connect: async () => {
					if (isOver) {
						throw new Error('Connection terminated: the process stops');
					}

					open.set(client, null);
					try {
						await connect();
					} catch (error) {
						open.delete(client);
						breakOff(client);
						throw error;
					}
				},
			});
		},
		note: (client, server) => {
			if (open.has(client)) {
				open.set(client, server);
			}
		},
		keepOnly: (server) => {
			const others = [...open].filter(([, other]) => other !== null && other !== server);
			for (const [client] of others) {
				breakOff(client);
			}

			return others.length;
		},
		end: () => {
			isOver = true;
			for (const client of open.keys()) {
				breakOff(client);
			}
		},
	};
};

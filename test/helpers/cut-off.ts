import {once} from 'node:events';
import {type AddressInfo, connect, createServer, type Socket} from 'node:net';

/** A connection to a server that a test can cut and restore. */
export type Line = {
	port: number;
	cut(): Promise<void>;
	mend(): Promise<void>;
	/** Carries nothing any more, as if the server's host were gone. */
	freeze(): void;
	/** New connections are carried again; the others never are. */
	thaw(): void;
	close(): Promise<void>;
};

/** A proxy on loopback to `target`: a port, or the path of a unix socket. While it is cut it refuses and drops connections. */
export const openLine = async (target: {port: number; host: string} | {path: string}): Promise<Line> => {
	const open = new Set<Socket>();
	let isFrozen = false;
	const server = createServer((near) => {
		const far = connect(target);
		for (const [socket, other] of [
			[near, far],
			[far, near],
		] as const) {
			open.add(socket);
			socket.on('error', () => other.destroy());
			socket.on('close', () => {
				open.delete(socket);
				other.destroy();
			});
			if (!isFrozen) {
				socket.pipe(other);
			}
		}
	});
	const listen = async (port: number) => {
		server.listen(port, '127.0.0.1');
		await once(server, 'listening');
	};
	await listen(0);
	const {port} = server.address() as AddressInfo;
	const cut = async () => {
		const closed = once(server, 'close');
		server.close();
		for (const socket of open) {
			socket.destroy();
		}

		await closed;
	};
	const freeze = () => {
		isFrozen = true;
		for (const socket of open) {
			socket.unpipe();
		}
	};
	const thaw = () => {
		isFrozen = false;
	};
	return {port, cut, mend: () => listen(port), freeze, thaw, close: async () => (server.listening ? cut() : undefined)};
};

/** The address in a connection URL: a port, or a unix socket. */
const addressOf = (url: string): {port: number; host: string} | {path: string} => {
	const {hostname, port, searchParams} = new URL(url);
	const folder = searchParams.get('host');
	return folder?.startsWith('/')
		? {path: `${folder}/.s.PGSQL.${searchParams.get('port') ?? '5432'}`}
		: {host: hostname, port: Number(port || 5432)};
};

/** A cuttable connection to a database's server, and the database's URL through it. */
export const openDatabaseLine = async (databaseUrl: string): Promise<{line: Line; url: string}> => {
	const line = await openLine(addressOf(databaseUrl));
	const given = new URL(databaseUrl);
	const {pathname, searchParams} = given;
	const user = given.username || searchParams.get('user') || 'postgres';
	const password = given.password || searchParams.get('password') || '';
	return {line, url: `postgresql://${user}${password === '' ? '' : `:${password}`}@127.0.0.1:${line.port}${pathname}`};
};

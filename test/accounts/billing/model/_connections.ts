import type pg from 'pg';
import {connectionsOf, type Db} from '../../../../src/platform/db/db.ts';

/** The connections of a world to its database. */
export type Connections = ReturnType<typeof watchConnections>;

type Query = {text: string; values?: unknown[]; name?: string};
type Connection = Omit<pg.Client, 'query'> & {query(query: Query | string, done: unknown): unknown};
type Inner = {acquireConnection(): Promise<Connection>; releaseConnection(connection: Connection): Promise<void>};

const CHANGES_NOTHING = /^\s*(?:select|begin|commit|rollback)\b|\bleases\b/i;

/** Statements by their text: PostgreSQL reads and plans each once for a connection, as there are thousands of them. */
const names = new Map<string, string>();
const nameOf = (text: string): string => {
	const name = names.get(text) ?? `s${names.size}`;
	names.set(text, name);
	return name;
};

export const watchConnections = (db: Db) => {
	const client = db.client as Inner;
	const {acquireConnection: acquire, releaseConnection: release} = client;
	const borrowed = new Set<Connection>();
	let changes = 0;
	let refuse = (): Error | null => null;

	const watched = new WeakSet<Connection>();
	const watch = (connection: Connection): void => {
		watched.add(connection);
		const send = connection.query;
		connection.query = (query, done) => {
			if (typeof query === 'string') {
				return send.call(connection, query, done);
			}

			const refusal = refuse();
			if (refusal !== null) {
				return typeof done === 'function' ? done(refusal) : Promise.reject(refusal);
			}

			changes += CHANGES_NOTHING.test(query.text) ? 0 : 1;
			const named = (query.values?.length ?? 0) === 0 ? query : {...query, name: nameOf(query.text)};
			return send.call(connection, named, done);
		};
	};
	client.acquireConnection = async () => {
		const connection = await acquire.call(client);
		if (!watched.has(connection)) {
			watch(connection);
		}

		borrowed.add(connection);
		return connection;
	};
	client.releaseConnection = (connection) => {
		borrowed.delete(connection);
		return release.call(client, connection);
	};

	return {
		/** Asks before each statement whether it is refused. */
		before: (ask: () => Error | null): void => {
			refuse = ask;
		},
		/** How many statements may have changed something so far, leases aside. */
		changes: () => changes,
		/** Breaks those on which something is under way, and with them their transactions. */
		break: () => {
			for (const connection of borrowed) {
				connectionsOf(db).breakOff(connection as pg.Client);
			}
		},
	};
};

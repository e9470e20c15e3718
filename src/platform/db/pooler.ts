import type {Db} from './db.ts';

type Connection = {
	/** The backend that answered first, as the server named it. */
	processID: number;
	query<Row>(text: string): Promise<{rows: Row[]}>;
};

const ROUNDS = 3;

const backendOf = async (connection: Connection): Promise<number | undefined> =>
	(await connection.query<{pid: number}>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

/** The lifetime of a session: a pooler may reassign it after each transaction, or after each statement. */
type SessionLife = 'connection' | 'transaction' | 'statement';

/** Whether two connections were answered by one backend, or one connection by two. */
const changesHands = async (first: Connection, second: Connection): Promise<boolean> => {
	for (let round = 0; round < ROUNDS; round += 1) {
		const before = await backendOf(first);
		// A transaction keeps its backend from the other connection.
		await second.query('BEGIN');
		const other = await backendOf(second);
		const after = before === other ? undefined : await backendOf(first);
		await second.query('COMMIT');
		if (before !== after) {
			return true;
		}
	}

	return false;
};

/**
 * How long sessions last, and the state in them. PostgreSQL reports the answering backend, a pooler invents a number.
 * Without a pooler this is one query.
 */
export const lifeOfSessions = async (db: Db): Promise<SessionLife> => {
	const first = (await db.client.acquireConnection()) as Connection;
	try {
		if ((await backendOf(first)) === first.processID) {
			return 'connection';
		}

		let second: Connection;
		try {
			second = (await db.client.acquireConnection()) as Connection;
		} catch {
			// A pooler with a single backend, which the first connection keeps.
			return 'connection';
		}

		try {
			return (await changesHands(first, second)) ? 'transaction' : 'connection';
		} catch (error) {
			// A pooler that shares sessions even between statements, without transactions.
			if (/pooling mode/.test((error as Error).message)) {
				return 'statement';
			}

			throw error;
		} finally {
			await db.client.releaseConnection(second);
		}
	} finally {
		await db.client.releaseConnection(first);
	}
};

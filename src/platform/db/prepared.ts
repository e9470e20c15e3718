import {type Db, sharesSessions} from './db.ts';
import {requireOpen} from './sql.ts';

/**
 * A statement that each connection parses and plans once: a third of knex's time, and no planning of joins. In a session
 * shared through a pooler it has no name there, and is planned each time.
 * @property name unique in the code; a connection keeps the first text it sees under it. @property text names its
 * columns, because a migration may add one.
 */
export type Prepared = {name: string; text: string};

type Connection = {
	query<R>(statement: {name?: string; text: string; values: readonly unknown[]}): Promise<{
		rows: R[];
		rowCount: number | null;
	}>;
};

/** Runs a statement on a pooled connection, or the transaction's. `$1` is the first value. */
export const runPrepared = async <R>(db: Db, {name, text}: Prepared, values: readonly unknown[]): Promise<R[]> => {
	requireOpen(db);
	const connection = (await db.client.acquireConnection()) as Connection;
	try {
		const {rows} = await connection.query<R>(sharesSessions(db) ? {text, values} : {name, text, values});
		return rows;
	} finally {
		await db.client.releaseConnection(connection);
	}
};

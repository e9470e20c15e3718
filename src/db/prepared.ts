import type {Db} from './db.ts';

/**
 * A statement that each connection parses and plans once: a third of what knex takes, and no planning of joins.
 * @property name one in all of the code; a connection keeps the text that it first saw under it.
 * @property text names the columns that it gives, so that a migration that adds one does not change it.
 */
export type Prepared = {name: string; text: string};

type Connection = {
	query<R>(statement: Prepared & {values: readonly unknown[]}): Promise<{rows: R[]; rowCount: number | null}>;
};

/** Runs a statement on a connection of the pool, or on the transaction's own. `$1` of its text is the first value. */
export const runPrepared = async <R>(db: Db, statement: Prepared, values: readonly unknown[]): Promise<R[]> => {
	const connection = (await db.client.acquireConnection()) as Connection;
	try {
		const {rows} = await connection.query<R>({...statement, values});
		return rows;
	} finally {
		await db.client.releaseConnection(connection);
	}
};

import {setTimeout as pause} from 'node:timers/promises';
import {callerGone} from '../errors.ts';
import {type Db, onlyRow} from './db.ts';
import {execute, identifier, run, sql} from './sql.ts';

/** The interval of cancellations: a statement may begin between two. */
const REPEAT_MS = 50;

/**
 * Runs `read` in a transaction that sees one state of the database. If the caller hangs up, its statement is cancelled,
 * and the connection is free at once. The transaction outlives the cancellation, which therefore meets no other statement.
 * @param locked a table that no transaction may change as a whole from before that state on; null for none.
 */
export const readInSnapshot = <T>(
	db: Db,
	{hungUp, locked}: {hungUp: AbortSignal; locked: string | null},
	read: (trx: Db) => Promise<T>,
): Promise<T> =>
	db.transaction(
		async (trx) => {
			// The first statement that reads anything decides which state is seen; this one reads nothing.
			if (locked !== null) {
				await execute(trx, sql`LOCK TABLE ${identifier(locked)} IN ACCESS SHARE MODE`);
			}

			const {pid} = onlyRow(await run<{pid: number}>(trx, sql`SELECT pg_backend_pid() AS pid`));
			let isOver = false;
			let sending: Promise<unknown> | null = null;
			const cancel = async (): Promise<void> => {
				while (!isOver) {
					await db.transaction(async (other) => {
						// This transaction does not wait for the other's connection, or all could be waiting.
						sending = isOver ? null : execute(other, sql`SELECT pg_cancel_backend(${pid})`);
						await sending;
					});
					await pause(REPEAT_MS);
				}
			};
			const gone = (): void => {
				cancel().catch(() => {});
			};
			hungUp.addEventListener('abort', gone, {once: true});
			try {
				return await read(trx);
			} catch (error) {
				throw hungUp.aborted ? callerGone() : error;
			} finally {
				isOver = true;
				hungUp.removeEventListener('abort', gone);
				await Promise.allSettled([sending]);
			}
		},
		{isolationLevel: 'repeatable read', readOnly: true},
	);

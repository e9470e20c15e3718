import {type Db, inTransaction} from '../../platform/db/db.ts';
import {execute, sql} from '../../platform/db/sql.ts';
import {databaseUnavailable} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type AuditEntry, type Caller, recordAudit} from '../audit/audit-log.ts';

export type MirrorDeps = Pick<Services, 'clock' | 'db' | 'mirrorTurns'>;

/** The context of mirror writes: a transaction that excludes all others. */
export type Mirror = {
	trx: Db;
	now: Date;
	/** Writes an audit record of a change, in the transaction. */
	record(entry: AuditEntry): Promise<void>;
};

/** The number must only differ from our other advisory locks. */
const MIRROR_LOCK = 720_003;
const LOCK_TIMEOUT = '8s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs `work` in a transaction that excludes all other mirror writes. Deliveries for the same user and organization
 * arrive concurrently and in any order, and each touches rows of several tables, so finer locks could deadlock. Writes
 * of this process queue without a connection; the lock is for other processes. Call the provider before or after, never
 * inside.
 * @throws 503 after waiting for 8 s.
 */
export const inMirror = <T>(services: MirrorDeps, by: Caller, work: (mirror: Mirror) => Promise<T>): Promise<T> =>
	services.mirrorTurns(() =>
		inTransaction(services.db, async (trx) => {
			await execute(trx, sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
			await execute(trx, sql`SELECT pg_advisory_xact_lock(${MIRROR_LOCK})`);
			const now = services.clock.now();
			return work({trx, now, record: (entry) => recordAudit(trx, now, by, entry)});
		}).catch((error: unknown) => {
			throw (error as {code?: unknown} | null)?.code === LOCK_NOT_AVAILABLE ? databaseUnavailable() : error;
		}),
	);

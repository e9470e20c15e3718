import {type AuditEntry, type Caller, recordAudit} from '../audit/audit-log.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {databaseUnavailable} from '../errors.ts';
import type {Services} from '../services.ts';

/** What writes of the mirror work with: a transaction that no other write of the mirror runs beside. */
export type Mirror = {
	trx: Db;
	now: Date;
	/** Writes an audit record of a change, in the transaction. */
	record(entry: AuditEntry): Promise<void>;
};

/** The number only has to differ from other advisory locks of ours. */
const MIRROR_LOCK = 720_003;
const LOCK_TIMEOUT = '8s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs `work` in a transaction that is the only one to write the mirror: deliveries for the same user and organization
 * come at once and in any order, and each touches rows of several tables, so that anything finer could deadlock.
 * Those of this process wait in turn, without a connection; the lock is for other processes.
 * Call the provider before or after, never inside. @throws 503 where it is not its turn within 8 s.
 */
export const inMirror = <T>(services: Services, by: Caller, work: (mirror: Mirror) => Promise<T>): Promise<T> =>
	services.mirrorTurns(() =>
		inTransaction(services.db, async (trx) => {
			await trx.raw('SELECT set_config(?, ?, true)', ['lock_timeout', LOCK_TIMEOUT]);
			await trx.raw('SELECT pg_advisory_xact_lock(?)', [MIRROR_LOCK]);
			const now = services.clock.now();
			return work({trx, now, record: (entry) => recordAudit(trx, now, by, entry)});
		}).catch((error: unknown) => {
			throw (error as {code?: unknown} | null)?.code === LOCK_NOT_AVAILABLE ? databaseUnavailable() : error;
		}),
	);

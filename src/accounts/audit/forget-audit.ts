import {daysBefore, retention} from '../../platform/config/policies.ts';
import type {Db} from '../../platform/db/db.ts';
import {inBatches} from '../../platform/db/in-batches.ts';

/** Deletes audit records older than in `config/retention.json`. @returns how many. */
export const forgetAudit = (db: Db, now: Date): Promise<number> =>
	inBatches(
		db,
		`DELETE FROM audit_log WHERE id IN (
			SELECT id FROM audit_log WHERE at <= ? ORDER BY at LIMIT ? FOR UPDATE SKIP LOCKED
		)`,
		daysBefore(now, retention().auditDays),
	);

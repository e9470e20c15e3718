import {HOUR_MS} from '../../platform/clock.ts';
import type {Db} from '../../platform/db/db.ts';
import {repeatBatches} from '../../platform/db/repeat-batches.ts';
import {execute, type Sql, sql} from '../../platform/db/sql.ts';
import {clearBatch, deleteBatch} from './match-clicks.ts';
import {deleteOldPeppers} from './match-peppers.ts';

/** Retention of a matched click's data, and of its row after its window. */
const MATCHED_MS = 24 * HOUR_MS;
const FORGOTTEN_MS = 30 * 24 * HOUR_MS;

/**
 * Clears personal data from clicks that can no longer match, at the end of the window or a day after the match. Deletes
 * the rows 30 days later, and the secrets that no longer hash any address (contract/match 8).
 * @returns the numbers of clicks cleared and deleted.
 */
export const forgetExpiredMatches = async (db: Db, now: Date): Promise<{forgotten: number; deleted: number}> => {
	const ago = (ms: number): Date => new Date(now.getTime() - ms);
	const clear = (condition: Sql): Promise<number> =>
		repeatBatches((limit) => execute(db, clearBatch(condition, limit)));
	const expired = await clear(sql`NOT forgotten AND expires_at <= ${now}`);
	const matched = await clear(sql`NOT forgotten AND consumed_at <= ${ago(MATCHED_MS)}`);
	const deleted = await repeatBatches((limit) => execute(db, deleteBatch(ago(FORGOTTEN_MS), limit)));
	await deleteOldPeppers(db, now);
	return {forgotten: expired + matched, deleted};
};

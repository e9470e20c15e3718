import type {Db} from '../db/db.ts';
import {inBatches} from '../db/in-batches.ts';
import {attemptRetention} from './attempt-retention.ts';
import {clearedAttempt} from './match-attempt-store.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Rows that another process is at already are left to it. */
const batchOf = (condition: string): string => `id IN (SELECT id FROM match_attempts
	WHERE ${condition} AND at <= ? ORDER BY at LIMIT ? FOR UPDATE SKIP LOCKED)`;

/**
 * Deletes misses that are older than `config/retention.json` says, and clears what tells of a device from matches:
 * those stay as rows of nobody, because reports count them.
 * @returns how many requests were deleted and cleared.
 */
export const forgetAttempts = async (db: Db, now: Date): Promise<{deleted: number; cleared: number}> => {
	const before = new Date(now.getTime() - attemptRetention().matchAttemptDays * DAY_MS);
	return {
		deleted: await inBatches(db, `DELETE FROM match_attempts WHERE ${batchOf('NOT matched')}`, before),
		cleared: await inBatches(
			db,
			`UPDATE match_attempts SET ${clearedAttempt} WHERE ${batchOf('matched AND json_array_length(candidates) > 0')}`,
			before,
		),
	};
};

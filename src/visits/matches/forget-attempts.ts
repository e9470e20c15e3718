import {daysBefore, retention} from '../../platform/config/policies.ts';
import type {Db} from '../../platform/db/db.ts';
import {inBatches} from '../../platform/db/in-batches.ts';
import {clearedAttempt} from './match-attempt-store.ts';

/** One batch of rows, without those that another process has locked. */
const batchOf = (condition: string): string => `id IN (SELECT id FROM match_attempts
	WHERE ${condition} AND at <= ? ORDER BY at LIMIT ? FOR UPDATE SKIP LOCKED)`;

/**
 * Applies the retention of `config/retention.json`. Deletes old misses, those without an organization sooner. Clears
 * device data from old matches but keeps their rows, which reports count. Deletes old counted phones.
 * @returns the numbers of attempts deleted and cleared, and of phones deleted.
 */
export const forgetAttempts = async (
	db: Db,
	now: Date,
): Promise<{deleted: number; cleared: number; phones: number}> => {
	const {matchAttemptDays, unownedAttemptDays, countedPhoneDays} = retention();
	const before = daysBefore(now, matchAttemptDays);
	const unowned = `DELETE FROM match_attempts WHERE ${batchOf('NOT matched AND organization_id IS NULL')}`;
	const misses = `DELETE FROM match_attempts WHERE ${batchOf('NOT matched')}`;
	return {
		phones: await inBatches(
			db,
			`DELETE FROM counted_phones WHERE (organization_id, slot) IN (SELECT organization_id, slot FROM counted_phones
				WHERE day <= ? ORDER BY day LIMIT ? FOR UPDATE SKIP LOCKED)`,
			daysBefore(now, countedPhoneDays),
		),
		deleted:
			(await inBatches(db, unowned, daysBefore(now, unownedAttemptDays))) + (await inBatches(db, misses, before)),
		cleared: await inBatches(
			db,
			`UPDATE match_attempts SET ${clearedAttempt} WHERE ${batchOf('matched AND click_id IS NOT NULL')}`,
			before,
		),
	};
};

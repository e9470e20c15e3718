import {daysBefore, retention, storageLimits} from '../../platform/config/policies.ts';
import type {Db} from '../../platform/db/db.ts';
import {inBatches} from '../../platform/db/in-batches.ts';

/** Devices without stored events; rows locked by another process are skipped. */
const batchOf = (condition: string): string => `id IN (SELECT id FROM devices WHERE ${condition} AND last_seen_at <= ?
	AND NOT EXISTS (
		SELECT FROM events WHERE events.organization_id = devices.organization_id AND events.device_id = devices.device_id
	) LIMIT ? FOR UPDATE SKIP LOCKED)`;

/**
 * Deletes devices without events that were not seen for the time in `config/retention.json`, and those known only from
 * `/data`, which needs no key, after the days of `config/storage.json`.
 * @returns how many.
 */
export const forgetDevices = async (db: Db, now: Date): Promise<number> =>
	(await inBatches(
		db,
		`DELETE FROM devices WHERE ${batchOf('by_visit')}`,
		daysBefore(now, storageLimits().visitDeviceDays),
	)) + (await inBatches(db, `DELETE FROM devices WHERE ${batchOf('true')}`, daysBefore(now, retention().deviceDays)));

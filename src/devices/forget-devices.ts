import {storageLimits} from '../config/storage-limits.ts';
import type {Db} from '../db/db.ts';
import {inBatches} from '../db/in-batches.ts';

const DAY_MS = 24 * 3600 * 1000;

/**
 * Deletes devices that nothing but `/data` has told of for as long as `config/storage.json` says: no session, no match, no
 * identity and no event. @returns how many.
 */
export const forgetDevices = (db: Db, now: Date): Promise<number> =>
	inBatches(
		db,
		`DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE by_visit AND last_seen_at <= ? AND NOT EXISTS (
			SELECT FROM events WHERE events.organization_id = devices.organization_id AND events.device_id = devices.device_id
		) LIMIT ? FOR UPDATE SKIP LOCKED)`,
		new Date(now.getTime() - storageLimits().visitDeviceDays * DAY_MS),
	);

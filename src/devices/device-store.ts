import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';

/** Notes that the organization's app runs on a device. @returns whether it was new. */
export const registerDevice = async (db: Db, organizationId: string, deviceId: string, now: Date): Promise<boolean> => {
	const {rows} = await db.raw<{rows: Array<{is_new: boolean}>}>(
		`INSERT INTO devices (id, organization_id, device_id, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (organization_id, device_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
		RETURNING (xmax = 0) AS is_new`,
		[randomUUID(), organizationId, deviceId, now, now],
	);
	return rows[0]?.is_new ?? false;
};

import {daysBefore} from '../../platform/config/policies.ts';
import type {Services} from '../../services.ts';

/** The provider gives up after two and a half days; the rest allows an operator's manual replays. */
const DELIVERY_DAYS = 30;
/** A session or a late event must not restore deleted records, for as long as one might arrive. */
const TOMBSTONE_DAYS = 400;

/** Deletes old deliveries with their payloads, and roles and deletions that no event can refer to any more. */
export const forgetDeliveries = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<void> => {
	const now = clock.now();
	for (const table of ['webhook_deliveries', 'identity_events', 'awaited_roles']) {
		await db(table).where('received_at', '<', daysBefore(now, DELIVERY_DAYS)).delete();
	}

	await db('identity_tombstones').where('deleted_at', '<', daysBefore(now, TOMBSTONE_DAYS)).delete();
};

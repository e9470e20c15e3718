import {daysBefore, retention} from '../../platform/config/policies.ts';
import type {Db} from '../../platform/db/db.ts';
import {inBatches} from '../../platform/db/in-batches.ts';

/** Deletes bodies some days after success, and deliveries with their tries after a month (contract/webhooks 5 and 7). */
export const forgetWebhookDeliveries = async (db: Db, now: Date): Promise<void> => {
	const {webhookBodyDays, webhookDeliveryDays} = retention();
	await inBatches(
		db,
		`UPDATE endpoint_deliveries SET body = NULL WHERE id IN (
			SELECT id FROM endpoint_deliveries WHERE delivered_at < ? AND body IS NOT NULL LIMIT ? FOR UPDATE SKIP LOCKED)`,
		daysBefore(now, webhookBodyDays),
	);
	await inBatches(
		db,
		`DELETE FROM endpoint_deliveries WHERE id IN (
			SELECT id FROM endpoint_deliveries WHERE created_at < ? LIMIT ? FOR UPDATE SKIP LOCKED)`,
		daysBefore(now, webhookDeliveryDays),
	);
};

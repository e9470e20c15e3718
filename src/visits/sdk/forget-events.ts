import {daysBefore, retention} from '../../platform/config/policies.ts';
import type {Db} from '../../platform/db/db.ts';
import {inBatches} from '../../platform/db/in-batches.ts';
import {keepLinkCounts, quarterOf} from '../reports/rollups/keep-link-visits.ts';
import {readState} from '../reports/rollups/rollup-store.ts';

/**
 * Deletes events older than in `config/retention.json`. Reports do not change: only whole days (UTC) that are rolled up
 * are deleted, those of links are counted, and the rollups are marked as the only source before that time.
 * @returns how many.
 */
export const forgetEvents = async (db: Db, now: Date): Promise<number> => {
	const state = await readState(db);
	if (state === null || !state.isOfThisCluster || state.backfill !== null) {
		return 0;
	}

	const before = daysBefore(now, retention().eventDays);
	before.setUTCHours(0, 0, 0, 0);
	await db('rollups').where('events_from', '<', before).update({events_from: before});
	return inBatches(
		db,
		// A few per organization at a time, in the order of the index.
		`WITH gone AS (DELETE FROM events WHERE id IN (
			SELECT old.id FROM organizations CROSS JOIN LATERAL (
				SELECT id FROM events WHERE organization_id = organizations.id AND occurred_at < ?
					AND pg_visible_in_snapshot(writer, (SELECT rolled FROM rollups))
				ORDER BY occurred_at LIMIT 1000 FOR UPDATE SKIP LOCKED
			) AS old LIMIT ?
		) RETURNING organization_id, link_id, occurred_at), kept AS (${keepLinkCounts(`
			SELECT organization_id, link_id, month, ${quarterOf('occurred_at', 'month')} AS quarter, 0 AS clicks, 0 AS crawler_views,
				count(*) AS events
			FROM gone, date_trunc('month', occurred_at, 'UTC') AS month WHERE link_id IS NOT NULL GROUP BY 1, 2, 3, 4`)}
		) SELECT FROM gone`,
		before,
	);
};

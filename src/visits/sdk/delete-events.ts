import type {Db} from '../../platform/db/db.ts';
import {repeatBatches} from '../../platform/db/repeat-batches.ts';
import {execute, sql} from '../../platform/db/sql.ts';
import {keepLinkCounts, quarterOf} from '../reports/rollups/keep-link-visits.ts';
import {readState} from '../reports/rollups/rollup-store.ts';

const keptCounts =
	keepLinkCounts(sql`SELECT organization_id, link_id, month, ${quarterOf(sql`occurred_at`, sql`month`)} AS quarter, 0 AS clicks,
			0 AS crawler_views, count(*) AS events
		FROM gone, date_trunc('month', occurred_at, 'UTC') AS month WHERE link_id IS NOT NULL GROUP BY 1, 2, 3, 4`);

/**
 * Deletes the events of the days (UTC) before. Reports do not change: only whole days that are rolled up are deleted,
 * those of links are counted, and the rollups are marked as the only source before that time.
 * @returns how many.
 */
export const deleteEvents = async (db: Db, before: Date): Promise<number> => {
	const state = await readState(db);
	if (state === null || !state.isOfThisCluster || state.backfill !== null) {
		return 0;
	}

	const midnight = new Date(before);
	midnight.setUTCHours(0, 0, 0, 0);
	await db('rollups').where('events_from', '<', midnight).update({events_from: midnight});
	return repeatBatches((limit) =>
		execute(
			db,
			// A few per organization at a time, in the order of the index.
			sql`WITH gone AS (DELETE FROM events WHERE id IN (
				SELECT old.id FROM organizations CROSS JOIN LATERAL (
					SELECT id FROM events WHERE organization_id = organizations.id AND occurred_at < ${midnight}
						AND pg_visible_in_snapshot(writer, (SELECT rolled FROM rollups))
					ORDER BY occurred_at LIMIT 1000 FOR UPDATE SKIP LOCKED
				) AS old LIMIT ${limit}
			) RETURNING organization_id, link_id, occurred_at), kept AS (${keptCounts})
			SELECT FROM gone`,
		),
	);
};

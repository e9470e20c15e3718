import {HOUR_MS} from '../../../platform/clock.ts';
import {inTransaction} from '../../../platform/db/db.ts';
import {execute, sql} from '../../../platform/db/sql.ts';
import type {ClickStore} from '../../reports/click-store.ts';
import {type RecentClicks, readRecent} from '../../reports/stream/click-stream-recent.ts';
import {clickEventsOf, newestOf, readBetween, readLatest} from '../../reports/stream/click-stream-store.ts';
import {BATCH_LOCK, occurredWithin} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {fullRows, readBatches, type StoredClick, storedColumns} from './stored-clicks.ts';

/** Batches read at once; each has the clicks of at most 4 MB of a journal. */
const BATCHES_AT_ONCE = 5;

/** How far back to search the newest clicks, in this order: parts that end earlier are not read. */
const LOOK_BACK_MS = [HOUR_MS, 24 * HOUR_MS, 31 * 24 * HOUR_MS, Number.POSITIVE_INFINITY];

const ownOf = (organizationId: string | null): string =>
	organizationId === null ? '' : `AND organization_id = ${literal(organizationId)}`;

const recentOf = (clickHouse: ClickHouse): RecentClicks => ({
	since: async (_, own, {organizationId, since}) => {
		const rows = await clickHouse.select(
			`SELECT intDiv(occurred_at, 1000000) AS second, organization_id, link_id, platform, is_person, count() AS count
			FROM clicks FINAL WHERE ${occurredWithin(since, null)} ${ownOf(organizationId)}
			GROUP BY second, organization_id, link_id, platform, is_person`,
		);
		return sql`(SELECT to_timestamp(second) AS occurred_at, stored.platform, stored.organization_id, stored.link_id,
				stored.is_person = 0 AS is_bot, stored.count
			FROM json_to_recordset(${JSON.stringify(rows)}::json) AS stored (second bigint, organization_id uuid, link_id uuid,
				platform text, is_person int, count bigint)
			JOIN organizations ON organizations.id = stored.organization_id ${own})`;
	},
	latest: async (trx, {organizationId, limit, now}) => {
		let found: StoredClick[] = [];
		for (const back of LOOK_BACK_MS) {
			found = await clickHouse.select(`SELECT ${storedColumns} FROM clicks FINAL
				WHERE ${occurredWithin(new Date(Math.max(0, now.getTime() - back)), null)} ${ownOf(organizationId)}
				ORDER BY occurred_at DESC LIMIT ${literal(limit)}`);
			if (found.length >= limit) {
				break;
			}
		}

		const others = await readLatest(trx, {organizationId, limit}, ['match', 'event']);
		return newestOf([...(await clickEventsOf(trx, fullRows(found))), ...others], limit);
	},
});

/** The live stream over clicks in ClickHouse: PostgreSQL's transactions say which batches are between two snapshots. */
export const createStreamReader = (
	clickHouse: ClickHouse,
	/** Waits until ClickHouse has the clicks of this machine's answers. */
	current: (containing: string[]) => Promise<void>,
): ClickStore['stream'] => {
	const recentClicks = recentOf(clickHouse);
	return {
		recent: async (db, organizationId, now) => {
			await current(organizationId === null ? [] : [organizationId]);
			return inTransaction(db, async (lock) => {
				await execute(lock, sql`SELECT pg_advisory_xact_lock(${BATCH_LOCK})`);
				// A transaction of its own: the snapshot must not be older than the lock.
				return readRecent(db, organizationId, now, recentClicks);
			});
		},
		between: async function* (db, range, types = ['click', 'match', 'event']) {
			const batches = types.includes('click') ? await readBatches(db, range) : [];
			for (let first = 0; first < batches.length; first += BATCHES_AT_ONCE) {
				const some = batches.slice(first, first + BATCHES_AT_ONCE);
				const oldest = new Date(Math.min(...some.map(({oldest: at}) => at.getTime())));
				// All versions of a click are of one batch, and may be selected before they are merged.
				const clicks = await clickHouse.select<StoredClick>(`SELECT ${storedColumns} FROM clicks FINAL
					PREWHERE batch IN (${some.map(({id}) => literal(id)).join(', ')})
					WHERE ${occurredWithin(oldest, null)} ORDER BY occurred_at`);
				if (clicks.length > 0) {
					yield await clickEventsOf(db, fullRows(clicks));
				}
			}

			yield* readBetween(
				db,
				range,
				types.filter((type) => type !== 'click'),
			);
		},
	};
};

import type {Db} from '../../../platform/db/db.ts';
import type {Snapshot} from '../../../platform/db/new-rows.ts';
import {execute, type Sql, sql} from '../../../platform/db/sql.ts';
import {clicksInFull} from '../../clicks/click-sql.ts';
import {cappedKey} from './cap-values.ts';
import {countDimensions} from './count-dimensions.ts';
import {CLICK_STEP, hoursOf} from './rollup-store.ts';

/**
 * Also keeps the breakdowns of a day by the hour, from its rows that are rolled up.
 * @param clicked a SELECT of hour, dimension, key and count of clicks elsewhere; null: those of the table.
 */
export const keepHours = async (
	trx: Db,
	{organizationId, day}: {organizationId: string; day: Date},
	rolled: Snapshot,
	clicked: Sql | null = null,
): Promise<void> => {
	const rolledUp = (time: Sql): Sql => sql`organization_id = ${organizationId} AND ${time} >= ${day}
		AND ${time} < ${day}::timestamptz + interval '1 day' AND pg_visible_in_snapshot(writer, ${rolled}::pg_snapshot)`;
	const people = sql`(SELECT *, date_trunc('hour', occurred_at, 'UTC') AS hour FROM ${clicksInFull} AS clicks
		WHERE ${rolledUp(CLICK_STEP)} AND bot_class IS NULL) AS people`;
	await execute(
		trx,
		sql`WITH kept AS (
			UPDATE rollup_days SET has_hours = true WHERE organization_id = ${organizationId} AND start = ${day}
		), capped AS (
			SELECT hour, dimension, ${cappedKey(sql`counted`)} AS key, count
			FROM (SELECT *, ${organizationId}::uuid AS organization_id, ${day}::timestamptz AS day FROM (
			${clicked ?? countDimensions(people, {by: ['hour']})}
			UNION ALL SELECT date_trunc('hour', at, 'UTC'), 'matchMethod', method, count(*)
			FROM match_attempts WHERE ${rolledUp(sql`at`)} AND matched GROUP BY 1, 3
		) AS by_hour) AS counted
		), summed AS (
			SELECT dimension, key, ${hoursOf(sql`${day}::timestamptz`)} AS hours FROM capped GROUP BY dimension, key
		)
		UPDATE rollup_breakdowns AS stored SET hours = summed.hours FROM summed
		WHERE stored.organization_id = ${organizationId} AND stored.span = 'day' AND stored.start = ${day}
			AND stored.dimension = summed.dimension AND coalesce(stored.key, '') = coalesce(summed.key, '')
			AND (stored.key IS NULL) = (summed.key IS NULL)`,
	);
};

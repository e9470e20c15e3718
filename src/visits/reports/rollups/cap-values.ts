import {cappedDimensions} from '../../clicks/dimensions.ts';

/** The key for values beyond the daily limit, or beyond the list of a report. */
export const OTHER = 'other';

const IS_CAPPED = `dimension IN (${cappedDimensions.map((name) => `'${name}'`).join(', ')})`;

/** SQL: true if the value of `row` is already stored for its day (UTC). */
const isKnown = (row: string): string => `EXISTS (
	SELECT FROM rollup_breakdowns AS known WHERE known.organization_id = ${row}.organization_id AND known.span = 'day'
		AND known.dimension = ${row}.dimension AND known.start = ${row}.day AND coalesce(known.key, '') = ${row}.key
		AND known.key IS NOT NULL)`;

/**
 * SQL: further CTEs that turn `found` (counts by organization, day, hour, dimension and key) into `parts`. Visitors
 * choose most values, so each day stores at most `:values` of a dimension and counts the rest as `other`. Stored values
 * stay; the most clicked new ones fill the free places. A value once counted as `other` stays there that day, because no
 * stored one is ever removed.
 */
export const capValues = `fresh AS MATERIALIZED (
		SELECT organization_id, day, dimension, key,
			row_number() OVER (PARTITION BY organization_id, day, dimension ORDER BY sum(count) DESC, key COLLATE "C") AS place
		FROM found WHERE ${IS_CAPPED} AND key <> '${OTHER}' AND NOT ${isKnown('found')}
		GROUP BY organization_id, day, dimension, key
	), rooms AS MATERIALIZED (
		SELECT organization_id, day, dimension, :values - (SELECT count(*) FROM rollup_breakdowns AS known
			WHERE known.organization_id = days.organization_id AND known.span = 'day' AND known.start = days.day
				AND known.dimension = days.dimension AND known.key <> '${OTHER}') AS room
		FROM (SELECT DISTINCT organization_id, day, dimension FROM fresh) AS days
	), surplus AS MATERIALIZED (
		SELECT organization_id, day, dimension, key FROM fresh JOIN rooms USING (organization_id, day, dimension)
		WHERE place > room
	), parts AS MATERIALIZED (
		SELECT found.organization_id, found.day, hour, found.dimension,
			CASE WHEN surplus.key IS NULL THEN found.key ELSE '${OTHER}' END AS key, count
		FROM found LEFT JOIN surplus ON surplus.organization_id = found.organization_id AND surplus.day = found.day
			AND surplus.dimension = found.dimension AND surplus.key = found.key
	)`;

/** SQL: the key that a count of the day is stored under, after all rows of that day are rolled up. */
export const cappedKey = (row: string): string =>
	`CASE WHEN ${IS_CAPPED} AND key IS NOT NULL AND NOT ${isKnown(row)} THEN '${OTHER}' ELSE key END`;

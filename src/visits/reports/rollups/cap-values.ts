import {joined, literal, type Sql, sql} from '../../../platform/db/sql.ts';
import {cappedDimensions} from '../../clicks/dimensions.ts';

/** The key for values beyond the daily limit, or beyond the list of a report. */
export const OTHER = 'other';

const other = literal(OTHER);

const IS_CAPPED = sql`dimension IN (${joined(cappedDimensions.map(literal))})`;

/** True if the value of `row` is already stored for its day (UTC). */
const isKnown = (row: Sql): Sql => sql`EXISTS (
	SELECT FROM rollup_breakdowns AS known WHERE known.organization_id = ${row}.organization_id AND known.span = 'day'
		AND known.dimension = ${row}.dimension AND known.start = ${row}.day AND coalesce(known.key, '') = ${row}.key
		AND known.key IS NOT NULL)`;

/**
 * Further CTEs that turn `found` (counts by organization, day, hour, dimension and key) into `parts`. Visitors
 * choose most values, so each day stores at most `values` of a dimension and counts the rest as `other`. Stored values
 * stay; the most clicked new ones fill the remaining capacity. A value once counted as `other` stays there that day, because no
 * stored one is ever removed.
 */
export const capValues = (values: number): Sql => sql`fresh AS MATERIALIZED (
		SELECT organization_id, day, dimension, key,
			row_number() OVER (PARTITION BY organization_id, day, dimension ORDER BY sum(count) DESC, key COLLATE "C") AS place
		FROM found WHERE ${IS_CAPPED} AND key <> ${other} AND NOT ${isKnown(sql`found`)}
		GROUP BY organization_id, day, dimension, key
	), capacity AS MATERIALIZED (
		SELECT organization_id, day, dimension, ${values} - (SELECT count(*) FROM rollup_breakdowns AS known
			WHERE known.organization_id = days.organization_id AND known.span = 'day' AND known.start = days.day
				AND known.dimension = days.dimension AND known.key <> ${other}) AS free
		FROM (SELECT DISTINCT organization_id, day, dimension FROM fresh) AS days
	), surplus AS MATERIALIZED (
		SELECT organization_id, day, dimension, key FROM fresh JOIN capacity USING (organization_id, day, dimension)
		WHERE place > free
	), parts AS MATERIALIZED (
		SELECT found.organization_id, found.day, hour, found.dimension,
			CASE WHEN surplus.key IS NULL THEN found.key ELSE ${other} END AS key, count
		FROM found LEFT JOIN surplus ON surplus.organization_id = found.organization_id AND surplus.day = found.day
			AND surplus.dimension = found.dimension AND surplus.key = found.key
	)`;

/** The key of a count of a day of which all rows are rolled up. */
export const cappedKey = (row: Sql): Sql =>
	sql`CASE WHEN ${IS_CAPPED} AND key IS NOT NULL AND NOT ${isKnown(row)} THEN ${other} ELSE key END`;

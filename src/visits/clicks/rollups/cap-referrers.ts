/** The key for referrers beyond the daily limit. */
const OTHER = 'other';

/** SQL: true if the referrer of `row` is already stored for its day (UTC). */
const isKnown = (row: string): string => `EXISTS (
	SELECT FROM rollup_breakdowns AS known WHERE known.organization_id = ${row}.organization_id AND known.span = 'day'
		AND known.start = ${row}.day AND known.dimension = 'referrer'
		AND coalesce(known.key, '') = ${row}.key AND known.key IS NOT NULL)`;

/**
 * SQL: further CTEs that turn `found` (counts by organization, day, hour, dimension and key) into `parts`. Visitors
 * choose the referrer, so each day stores at most `:referrers` of them and counts the rest as `other`. Stored referrers
 * stay; the most clicked new ones fill the free places. A referrer once counted as `other` stays there that day,
 * because no stored one is ever removed.
 */
export const capReferrers = `fresh AS MATERIALIZED (
		SELECT organization_id, day, key,
			row_number() OVER (PARTITION BY organization_id, day ORDER BY sum(count) DESC, key COLLATE "C") AS place
		FROM found WHERE dimension = 'referrer' AND key <> '${OTHER}' AND NOT ${isKnown('found')}
		GROUP BY organization_id, day, key
	), rooms AS MATERIALIZED (
		SELECT organization_id, day, :referrers - (SELECT count(*) FROM rollup_breakdowns AS known
			WHERE known.organization_id = days.organization_id AND known.span = 'day' AND known.start = days.day
				AND known.dimension = 'referrer' AND known.key <> '${OTHER}') AS room
		FROM (SELECT DISTINCT organization_id, day FROM fresh) AS days
	), surplus AS MATERIALIZED (
		SELECT organization_id, day, key FROM fresh JOIN rooms USING (organization_id, day) WHERE place > room
	), parts AS MATERIALIZED (
		SELECT found.organization_id, found.day, hour, dimension,
			CASE WHEN surplus.key IS NULL THEN found.key ELSE '${OTHER}' END AS key, count
		FROM found LEFT JOIN surplus ON dimension = 'referrer' AND surplus.organization_id = found.organization_id
			AND surplus.day = found.day AND surplus.key = found.key
	)`;

/** SQL: the key that a count of the day is stored under, after all rows of that day are rolled up. */
export const cappedKey = (row: string): string =>
	`CASE WHEN dimension = 'referrer' AND key IS NOT NULL AND NOT ${isKnown(row)} THEN '${OTHER}' ELSE key END`;

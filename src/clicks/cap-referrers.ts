/** What referrers of a day are counted as that come after as many others as are kept one by one. */
const OTHER = 'other';

/** Whether the day (UTC) of `row` has its referrer already. */
const isKnown = (row: string): string => `EXISTS (
	SELECT FROM rollup_breakdowns AS known WHERE known.organization_id = ${row}.organization_id AND known.span = 'day'
		AND known.start = ${row}.day AND known.dimension = 'referrer'
		AND coalesce(known.key, '') = ${row}.key AND known.key IS NOT NULL)`;

/**
 * SQL: further parts of a WITH, which make `parts` of `found`, counts by organization, day, hour, dimension and key. Whoever
 * visits chooses the referrer, so that a day has `:referrers` of them and counts the rest together: it keeps those that it
 * has, and of new ones those with the most clicks. One that was not kept once is not kept on that day, as none ever leaves.
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

/** SQL: the key that a count of the day is kept under, once all of the day's rows are in the rollups. */
export const cappedKey = (row: string): string =>
	`CASE WHEN dimension = 'referrer' AND key IS NOT NULL AND NOT ${isKnown(row)} THEN '${OTHER}' ELSE key END`;

import {identifier, joined, literal, type Sql, sql} from '../../../platform/db/sql.ts';
import {cappedDimensions, clickDimensions, columnOf, type DimensionName} from '../../clicks/dimensions.ts';

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

type Options = {
	/** Of clicks; the others are omitted. */
	dimensions?: readonly DimensionName[];
	/** Further columns to group by. */
	by?: readonly string[];
	/** The number of clicks of a row (default: one). */
	weight?: Sql | null;
};

/**
 * Counts people's clicks once per dimension, in one scan.
 * @param from the rows, with the columns of the dimensions and `by`. @returns a SELECT of `by`, dimension, key and count.
 */
export const countDimensions = (
	from: Sql,
	{dimensions = clickDimensions, by = [], weight = null}: Options = {},
): Sql => {
	const counted = dimensions.filter((name) => clickDimensions.includes(name));
	const own = joined(
		by.map((column) => sql`${identifier(column)},`),
		' ',
	);
	if (counted.length === 0) {
		return sql`SELECT ${own} CAST(NULL AS text) AS dimension, CAST(NULL AS text) AS key, CAST(0 AS bigint) AS count
			FROM ${from} WHERE false`;
	}

	const columns = counted.map(columnOf).map(identifier);
	// Bits of GROUPING: bit 0 is the last column; 0 if the group contains the column.
	const groupingOf = (index: number): number => (1 << columns.length) - 1 - (1 << (columns.length - 1 - index));
	const names = counted.map((name, index) => sql`WHEN ${groupingOf(index)} THEN ${literal(name)}`);
	const keys = columns.map((column, index) => (counted[index] === 'link' ? sql`CAST(link_id AS text)` : column));
	return sql`SELECT ${own}
		CASE grouping(${joined(columns)}) ${joined(names, ' ')} END AS dimension, coalesce(${joined(keys)}) AS key,
		${weight === null ? sql`count(*)` : sql`sum(${weight})`} AS count
	FROM ${from} GROUP BY GROUPING SETS (${joined(columns.map((column) => sql`(${own} ${column})`))})
	${weight === null ? sql`` : sql`HAVING sum(${weight}) <> 0`}`;
};

import {identifier, joined, literal, type Sql, sql} from '../../../platform/db/sql.ts';
import {clickDimensions, columnOf, type DimensionName} from '../../clicks/dimensions.ts';

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

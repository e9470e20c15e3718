import {clickDimensions, columnOf, type DimensionName} from '../../clicks/dimensions.ts';

type Options = {
	/** Of clicks; the others are left out. */
	dimensions?: readonly DimensionName[];
	/** Further columns to group by. */
	by?: readonly string[];
	/** SQL: how many clicks a row stands for. */
	weight?: string | null;
};

/** Without a dimension of clicks there is nothing to count. */
const NOTHING = 'CAST(NULL AS text) AS dimension, CAST(NULL AS text) AS key, CAST(0 AS bigint) AS count';

/**
 * SQL that counts people's clicks once per dimension, in one scan.
 * @param from the rows, with the columns of the dimensions and `by`. @returns a SELECT of `by`, dimension, key and count.
 */
export const countDimensions = (
	from: string,
	{dimensions = clickDimensions, by = [], weight = null}: Options = {},
): string => {
	const counted = dimensions.filter((name) => clickDimensions.includes(name));
	const own = by.map((column) => `${column}, `).join('');
	if (counted.length === 0) {
		return `SELECT ${own}${NOTHING} FROM ${from} WHERE false`;
	}

	const columns = counted.map(columnOf);
	// Bits of GROUPING: bit 0 is the last column; 0 if the group contains the column.
	const groupingOf = (index: number): number => (1 << columns.length) - 1 - (1 << (columns.length - 1 - index));
	return `SELECT ${own}
		CASE grouping(${columns.join(', ')}) ${counted.map((name, index) => `WHEN ${groupingOf(index)} THEN '${name}'`).join(' ')}
			END AS dimension,
		coalesce(${columns.map((column) => (column === 'link_id' ? 'CAST(link_id AS text)' : column)).join(', ')}) AS key,
		${weight === null ? 'count(*)' : `sum(${weight})`} AS count
	FROM ${from} GROUP BY GROUPING SETS (${columns.map((column) => `(${own}${column})`).join(', ')})
	${weight === null ? '' : `HAVING sum(${weight}) <> 0`}`;
};

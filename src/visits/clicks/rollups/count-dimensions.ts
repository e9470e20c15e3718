/** The dimensions of click breakdowns and their columns in `clicks`. */
const columns = {
	platform: 'platform',
	country: 'country',
	channel: 'channel',
	referrer: 'referrer_host',
	link: 'link_id',
} as const;

const names = Object.values(columns);

/** Bits of GROUPING: bit 0 is the last column; 0 if the group contains the column. */
const groupingOf = (index: number): number => (1 << names.length) - 1 - (1 << (names.length - 1 - index));

/**
 * SQL that counts people's clicks once per dimension, in one scan.
 * @param from the rows, with the columns of `clicks` and `by`. @param by further columns to group by. @param weight of
 * rows that stand for several clicks. @returns a SELECT of `by`, dimension, key and count.
 */
export const countDimensions = (from: string, by: string[] = [], weight: string | null = null): string => {
	const own = by.map((column) => `${column}, `).join('');
	return `SELECT ${own}
		CASE grouping(${names.join(', ')}) ${Object.keys(columns)
			.map((dimension, index) => `WHEN ${groupingOf(index)} THEN '${dimension}'`)
			.join(' ')} END AS dimension,
		coalesce(${names.map((name) => (name === 'link_id' ? 'CAST(link_id AS text)' : name)).join(', ')}) AS key,
		${weight === null ? 'count(*)' : `sum(${weight})`} AS count
	FROM ${from} GROUP BY GROUPING SETS (${names.map((name) => `(${own}${name})`).join(', ')})
	${weight === null ? '' : `HAVING sum(${weight}) <> 0`}`;
};

/**
 * A SELECT of `columns` of the clicks that a visitor's cookie came with, and of the one that set it. Only the former are in
 * the index of visitors: most visitors come once, and an entry for each would cost a quarter of what an open match does. The
 * latter is found by its id, which begins with the cookie's time.
 * @param visitor SQL for what `match_clicks.visitor` holds.
 */
export const clicksOfVisitor = (visitor: string, columns: string): string => {
	const [from, to] = ['0', 'f'].map(
		(digit) => `CAST(rpad(encode(substr(${visitor}, 1, 6), 'hex'), 32, '${digit}') AS uuid)`,
	);
	return `SELECT ${columns} FROM match_clicks WHERE visitor = ${visitor} AND is_returning
		UNION ALL SELECT ${columns} FROM match_clicks
		WHERE visitor = ${visitor} AND NOT is_returning AND id BETWEEN ${from} AND ${to}`;
};

import {readCopyText} from '../../db/copy-in.ts';
import type {Db} from '../../db/db.ts';
import {SAME_VISIT_MS} from '../open-match.ts';
import {matchColumns, signalColumns} from './entry.ts';

type Told = Record<(typeof matchColumns)[number], string | null>;

/** `\x` and hexadecimal digits, as COPY and JSON have bytes. */
const byteColumns = new Set<string>(['visitor', 'ip_key', 'net_key']);
const typeOf = (column: string): string => {
	if (column.endsWith('id')) {
		return 'uuid';
	}

	return column.endsWith('_at') ? 'timestamptz' : /^os_m|^os_patch/.test(column) ? 'integer' : 'text';
};

const cast = (column: string): string =>
	byteColumns.has(column) ? `decode(substr(told.${column}, 3), 'hex')` : `told.${column}`;

const changes = matchColumns
	.filter((column) => !['organization_id', 'link_id', 'visitor'].includes(column))
	.map((column) =>
		(signalColumns as readonly string[]).includes(column)
			? `${column} = coalesce(told.${column}, match_clicks.${column})`
			: `${column} = ${cast(column)}`,
	);

/** The newest open match of the same visitor on the same link is that of the visit before. */
const statement = `WITH told AS MATERIALIZED (
		SELECT told.*, (
			SELECT id FROM match_clicks
			WHERE link_id = told.link_id AND visitor = decode(substr(told.visitor, 3), 'hex')
				AND consumed_at IS NULL AND NOT forgotten
				AND created_at > told.created_at - CAST(:sameVisit AS double precision) * interval '1 millisecond'
			ORDER BY created_at DESC LIMIT 1) AS open_id
		FROM json_to_recordset(CAST(:rows AS json)) AS told (${matchColumns.map((column) => `${column} ${typeOf(column)}`).join(', ')})
	), reopened AS (
		UPDATE match_clicks SET ${changes.join(', ')}, signals_at = NULL
		FROM told WHERE match_clicks.id = told.open_id AND match_clicks.consumed_at IS NULL RETURNING told.id
	)
	INSERT INTO match_clicks (${matchColumns.join(', ')})
	SELECT ${matchColumns.map(cast).join(', ')} FROM told WHERE id NOT IN (SELECT id FROM reopened)`;

/** A later visit says again what it knows, and leaves what only the earlier one knew. */
const goneOn = (earlier: Told, later: Told): Told => ({
	...later,
	...Object.fromEntries(signalColumns.map((column) => [column, later[column] ?? earlier[column]])),
});

/**
 * Goes on with the match of the same visit, or opens one. Visits of one person that are of one visit are taken
 * together; others of theirs come one after the other.
 * @param rows of COPY, in the order of the clicks.
 */
export const reopenMatches = async (trx: Db, rows: string[]): Promise<void> => {
	const byVisitor = new Map<string, Told[]>();
	for (const row of rows) {
		const values = row.split('\t').map(readCopyText);
		const told = Object.fromEntries(matchColumns.map((column, index) => [column, values[index] ?? null])) as Told;
		const key = `${told.link_id} ${told.visitor}`;
		const visits = byVisitor.get(key) ?? [];
		byVisitor.set(key, visits);
		const last = visits.at(-1);
		if (last !== undefined && Date.parse(told.created_at ?? '') - Date.parse(last.created_at ?? '') < SAME_VISIT_MS) {
			visits[visits.length - 1] = goneOn(last, told);
		} else {
			visits.push(told);
		}
	}

	const most = Math.max(0, ...[...byVisitor.values()].map(({length}) => length));
	for (let round = 0; round < most; round += 1) {
		const visits = [...byVisitor.values()].flatMap((visits) => visits[round] ?? []);
		await trx.raw(statement, {rows: JSON.stringify(visits), sameVisit: SAME_VISIT_MS});
	}
};

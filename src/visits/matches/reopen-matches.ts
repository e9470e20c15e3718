import {readCopyText} from '../../platform/db/copy-in.ts';
import type {Db} from '../../platform/db/db.ts';
import {queriedColumns, signalColumns} from '../clicks/journal/entry.ts';
import {SAME_VISIT_MS} from '../clicks/open-match.ts';
import {clicksOfVisitor} from './match-clicks.ts';

type Visit = Record<(typeof queriedColumns)[number], string | null>;

const changes = queriedColumns
	.filter((column) => !['organization_id', 'link_id', 'visitor'].includes(column))
	.map((column) =>
		(signalColumns as readonly string[]).includes(column)
			? `${column} = coalesce(visit.${column}, match_clicks.${column})`
			: `${column} = visit.${column}`,
	);

/** The newest open match of the same visitor on the same link belongs to the previous visit. */
const statement = `WITH visit AS MATERIALIZED (
		SELECT visit.*, (
			SELECT id FROM (${clicksOfVisitor('visit.visitor', 'id, link_id, ip_key, consumed_at, forgotten, created_at')}) AS own
			WHERE link_id = visit.link_id AND ip_key = visit.ip_key AND consumed_at IS NULL AND NOT forgotten
				AND created_at > visit.created_at - CAST(:sameVisit AS double precision) * interval '1 millisecond'
			ORDER BY created_at DESC LIMIT 1) AS open_id
		FROM json_populate_recordset(CAST(NULL AS match_clicks), CAST(:rows AS json)) AS visit
	), reopened AS (
		UPDATE match_clicks SET ${changes.join(', ')}, signals_at = NULL, is_returning = true
		FROM visit WHERE match_clicks.id = visit.open_id AND match_clicks.consumed_at IS NULL RETURNING visit.id
	)
	INSERT INTO match_clicks (${queriedColumns.join(', ')}, is_returning)
	SELECT ${queriedColumns.join(', ')}, true FROM visit WHERE id NOT IN (SELECT id FROM reopened)`;

/** A later visit overwrites only the fields that it has. */
const mergeVisits = (earlier: Visit, later: Visit): Visit => ({
	...later,
	...Object.fromEntries(signalColumns.map((column) => [column, later[column] ?? earlier[column]])),
});

/**
 * Continues the match of the same visit, or opens a new one. Clicks of the same visit are handled together; a person's
 * separate visits follow in order.
 * @param rows of COPY, in the order of the clicks.
 */
export const reopenMatches = async (trx: Db, rows: string[]): Promise<void> => {
	const byVisitor = new Map<string, Visit[]>();
	for (const row of rows) {
		const values = row.split('\t').map(readCopyText);
		const visit = Object.fromEntries(queriedColumns.map((column, index) => [column, values[index] ?? null])) as Visit;
		const key = `${visit.link_id} ${visit.visitor} ${visit.ip_key}`;
		const visits = byVisitor.get(key) ?? [];
		byVisitor.set(key, visits);
		const last = visits.at(-1);
		if (last !== undefined && Date.parse(visit.created_at ?? '') - Date.parse(last.created_at ?? '') < SAME_VISIT_MS) {
			visits[visits.length - 1] = mergeVisits(last, visit);
		} else {
			visits.push(visit);
		}
	}

	const most = Math.max(0, ...[...byVisitor.values()].map(({length}) => length));
	for (let round = 0; round < most; round += 1) {
		const visits = [...byVisitor.values()].flatMap((visits) => visits[round] ?? []);
		const values = visits.map(({query, ...visit}) => ({...visit, query: query === null ? null : JSON.parse(query)}));
		await trx.raw(statement, {rows: JSON.stringify(values), sameVisit: SAME_VISIT_MS});
	}
};

import {HOUR_MS} from '../../platform/clock.ts';
import {repeatBatches} from '../../platform/db/batches.ts';
import {readCopyText} from '../../platform/db/copy.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, identifier, joined, type Sql, sql} from '../../platform/db/sql.ts';
import {attributionSql} from '../devices/attribution.ts';
import type {RawSignals} from './match-signals.ts';
import {deleteOldPeppers} from './network-keys.ts';
import {matchColumns, queriedColumns, SAME_VISIT_MS, signalColumns} from './open-match.ts';

/** Statements of COPY that open matches: of visits without a query, and of those with one. */
export const copyMatches = {
	opened: `COPY match_clicks (${matchColumns.join(', ')}) FROM STDIN`,
	queried: `COPY match_clicks (${queriedColumns.join(', ')}) FROM STDIN`,
};

/**
 * A SELECT of `columns` of the clicks with a visitor's cookie, and of the click that set it. Only the former are in the
 * index of visitors: most visitors come once, and an entry for each would cost a quarter of an open match. The
 * latter is found by its id, which begins with the cookie's time.
 * @param visitor SQL of a visitor as rows of `match_clicks` have it.
 */
export const clicksOfVisitor = (visitor: Sql, columns: Sql): Sql => {
	const [from, to] = [sql`'0'`, sql`'f'`].map(
		(digit) => sql`rpad(encode(substr(${visitor}, 1, 6), 'hex'), 32, ${digit})::uuid`,
	);
	return sql`SELECT ${columns} FROM match_clicks WHERE visitor = ${visitor} AND is_returning
		UNION ALL SELECT ${columns} FROM match_clicks
		WHERE visitor = ${visitor} AND NOT is_returning AND id BETWEEN ${from} AND ${to}`;
};

/** SQL: the attribution of an open match. */
export const attributionOfClick = (id: Sql): Sql => sql`(
	SELECT ${attributionSql('campaign', sql`click.country`)} FROM match_clicks AS click
	LEFT JOIN click_campaigns AS campaign ON campaign.id = click.campaign_id WHERE click.id = ${id})`;

/** SQL: the link of a click. */
export const linkOfClick = (id: Sql): Sql => sql`(SELECT link_id FROM match_clicks WHERE match_clicks.id = ${id})`;

/** SQL: the query of a click's visit. */
export const queryOfClick = (id: Sql): Sql => sql`(SELECT query FROM match_clicks WHERE match_clicks.id = ${id})`;

type Visit = Record<(typeof queriedColumns)[number], string | null>;

const changes = queriedColumns
	.filter((column) => !['organization_id', 'link_id', 'visitor'].includes(column))
	.map((name) => {
		const column = identifier(name);
		return (signalColumns as readonly string[]).includes(name)
			? sql`${column} = coalesce(visit.${column}, match_clicks.${column})`
			: sql`${column} = visit.${column}`;
	});

const columns = joined(queriedColumns.map(identifier));

/** Rows as JSON. The newest open match of the same visitor on the same link belongs to the previous visit. */
const reopen = (rows: string): Sql => sql`WITH visit AS MATERIALIZED (
		SELECT visit.*, (
			SELECT id FROM (${clicksOfVisitor(sql`visit.visitor`, sql`id, link_id, ip_key, consumed_at, forgotten, created_at`)}) AS own
			WHERE link_id = visit.link_id AND ip_key = visit.ip_key AND consumed_at IS NULL AND NOT forgotten
				AND created_at > visit.created_at - ${SAME_VISIT_MS}::double precision * interval '1 millisecond'
			ORDER BY created_at DESC LIMIT 1) AS open_id
		FROM json_populate_recordset(NULL::match_clicks, ${rows}::json) AS visit
	), reopened AS (
		UPDATE match_clicks SET ${joined(changes)}, signals_at = NULL, is_returning = true
		FROM visit WHERE match_clicks.id = visit.open_id AND match_clicks.consumed_at IS NULL RETURNING visit.id
	)
	INSERT INTO match_clicks (${columns}, is_returning)
	SELECT ${columns}, true FROM visit WHERE id NOT IN (SELECT id FROM reopened)`;

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
		await execute(trx, reopen(JSON.stringify(values)));
	}
};

/**
 * Adds a page's signals to its open match, once, unless the match was opened before `since`.
 * @param noted the statement that changes the click itself: follows `updated`, which has `click_id`, `organization_id`, `link_id`,
 * `created_at`, `platform` and `had_platform`, whether the platform was known before.
 */
export const addSignals = (
	{id, now, since}: {id: string; now: Date; since: Date},
	{timezone, language, platform, deviceModel, osVersion}: RawSignals,
	noted: Sql,
): Sql => {
	const version = (part: 'major' | 'minor' | 'patch' | 'precision', column: Sql) =>
		osVersion === null ? column : sql`${osVersion[part]}`;
	return sql`WITH before AS MATERIALIZED (
			SELECT id AS before_id, platform IS NOT NULL AS had_platform FROM match_clicks WHERE id = ${id} FOR UPDATE
		), updated AS (
			UPDATE match_clicks SET signals_at = ${now},
				timezone = coalesce(${timezone}, timezone), language = coalesce(${language}, language),
				platform = coalesce(platform, ${platform}), device_model = coalesce(${deviceModel}, device_model),
				os_major = ${version('major', sql`os_major`)}, os_minor = ${version('minor', sql`os_minor`)},
				os_patch = ${version('patch', sql`os_patch`)}, os_precision = ${version('precision', sql`os_precision`)}
			FROM before WHERE id = before_id AND signals_at IS NULL AND created_at >= ${since}
			RETURNING click_id, organization_id, link_id, created_at, platform, had_platform
		)
		${noted}`;
};

/** One batch of rows, without those that another process has locked. */
const batchOf = (condition: Sql, limit: number): Sql =>
	sql`id IN (SELECT id FROM match_clicks WHERE ${condition} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;

/** Clears personal data from a batch of rows. */
const clearBatch = (condition: Sql, limit: number): Sql =>
	sql`UPDATE match_clicks SET forgotten = true, ip_key = NULL, net_key = NULL, device_model = NULL, timezone = NULL, browser = NULL,
		visitor = NULL, query = NULL, consumed_by = NULL
	WHERE ${batchOf(condition, limit)}`;

/** Deletes a batch of cleared rows whose window ended before. */
const deleteBatch = (before: Date, limit: number): Sql =>
	sql`DELETE FROM match_clicks WHERE ${batchOf(sql`forgotten AND expires_at <= ${before}`, limit)}`;

/** The stored values that find a person. */
export type SubjectKeys = {
	organizationId: string;
	deviceIds: string[];
	/** Keyed hashes of the device ids, under every secret still stored. */
	deviceKeys: Buffer[];
};

/**
 * The match clicks that a subject's devices claimed, and other clicks of the same browser. A day after a match the
 * device's hash is deleted, after two weeks its secret; then its attempt names the click.
 */
export const matchClicksOfSubject = ({organizationId, deviceIds, deviceKeys}: SubjectKeys): Sql => sql`WITH claimed AS (
		SELECT id, visitor FROM match_clicks
		WHERE organization_id = ${organizationId} AND consumed_by = ANY(${deviceKeys})
		UNION
		SELECT match_clicks.id, match_clicks.visitor FROM match_attempts
			JOIN match_clicks ON match_clicks.id = match_attempts.click_id
		WHERE match_attempts.organization_id = ${organizationId} AND match_attempts.device_id = ANY(${deviceIds})
			AND match_attempts.matched AND match_clicks.organization_id = ${organizationId}
	)
	SELECT * FROM match_clicks WHERE organization_id = ${organizationId}
		AND id IN (
			SELECT id FROM claimed UNION ALL
			SELECT visit.id FROM claimed CROSS JOIN LATERAL (${clicksOfVisitor(sql`claimed.visitor`, sql`id`)}) AS visit
		)`;

/** SQL that clears the person's data from the rows of `own`. */
export const clearOwnClicks = sql`
	UPDATE match_clicks SET forgotten = true, ip_key = NULL, net_key = NULL, visitor = NULL, query = NULL, consumed_by = NULL,
		platform = NULL, os_major = NULL, os_minor = NULL, os_patch = NULL, os_precision = NULL,
		device_model = NULL, language = NULL, timezone = NULL, browser = NULL, signals_at = NULL
	FROM own WHERE match_clicks.id = own.id RETURNING match_clicks.id`;

/** Creates the index by which the matches of a deleted link are found if its clicks are not in PostgreSQL. */
export const createLinkIndex = async (trx: Db): Promise<void> => {
	await execute(trx, sql`CREATE INDEX IF NOT EXISTS match_clicks_link_id_idx ON match_clicks (link_id)`);
};

export const dropLinkIndex = async (trx: Db): Promise<void> => {
	await execute(trx, sql`DROP INDEX IF EXISTS match_clicks_link_id_idx`);
};

/** Retention of a matched click's data, and of its row after its window. */
const MATCHED_MS = 24 * HOUR_MS;
const FORGOTTEN_MS = 30 * 24 * HOUR_MS;

/**
 * Clears personal data from clicks that can no longer match, at the end of the window or a day after the match. Deletes
 * the rows 30 days later, and the secrets that no longer hash any address (contract/match 8).
 * @returns the numbers of clicks cleared and deleted.
 */
export const forgetExpiredMatches = async (db: Db, now: Date): Promise<{forgotten: number; deleted: number}> => {
	const ago = (ms: number): Date => new Date(now.getTime() - ms);
	const clear = (condition: Sql): Promise<number> =>
		repeatBatches((limit) => execute(db, clearBatch(condition, limit)));
	const expired = await clear(sql`NOT forgotten AND expires_at <= ${now}`);
	const matched = await clear(sql`NOT forgotten AND consumed_at <= ${ago(MATCHED_MS)}`);
	const deleted = await repeatBatches((limit) => execute(db, deleteBatch(ago(FORGOTTEN_MS), limit)));
	await deleteOldPeppers(db, now);
	return {forgotten: expired + matched, deleted};
};

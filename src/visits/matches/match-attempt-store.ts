import type {Confidence} from '../../links/app-config/app-config.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, identifier, joined, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {matchAttemptNotFound, required} from '../../platform/errors.ts';
import type {ValueOf} from '../../platform/http/answer.ts';
import type {candidateAnswer, matchAttemptAnswer, signalsAnswer} from './match-answer.ts';
import {attributionOfClick, queryOfClick} from './match-clicks.ts';
import type {MatchMethod} from './match-policy.ts';

export type AttemptSignals = ValueOf<typeof signalsAnswer>;
export type CandidateTrace = ValueOf<typeof candidateAnswer>;
export type MatchAttempt = ValueOf<typeof matchAttemptAnswer>;

/** The answer that a guess would have given to a match by token. */
export type SilentGuess = {method: MatchMethod; confidence: Confidence; score: number; linkId: string};

const STORED =
	'id, at, organization_id, device_id, matched, method, confidence, score, link_id, reason, signals, candidates, nobody';

/** Without the query, which is the click's. */
export const storedColumns: Columns<Omit<MatchAttempt, 'query'>> = columnsOf(STORED);

/** A row of `attemptColumns`. */
export type MatchAttemptRow = Omit<MatchAttempt, 'query'> & {query: Record<string, string> | null};

export const toMatchAttempt = ({query, ...attempt}: MatchAttemptRow): MatchAttempt =>
	query === null ? attempt : {...attempt, query};

/** SQL that clears personal data from an attempt and keeps the fields that reports count by. */
export const clearedAttempt = sql`device_id = NULL, click_id = NULL, agent_platform = NULL, candidates = '[]', nobody = NULL, signals = json_build_object(
	'platform', NULL, 'osVersion', NULL, 'deviceModel', NULL, 'language', NULL, 'timezone', NULL,
	'network', signals -> 'network', 'clipboardToken', signals -> 'clipboardToken',
	'installReferrer', signals -> 'installReferrer', 'apiKey', signals -> 'apiKey')`;

/** An attempt with the click that it matched, and the guess that a token made unnecessary. */
export type RecordedAttempt = MatchAttempt & {
	clickId: string | null;
	silentGuess: SilentGuess | null;
	/** Whether it had a text with the prefix of tokens. */
	hasToken: boolean;
	agentPlatform: 'ios' | 'android' | null;
};

const columns = `${STORED}, click_id, silent_guess, has_token, agent_platform`.split(', ');
const columnList = joined(columns.map(identifier));
const own = joined(columns.map((column) => identifier(`made.${column}`)));
const ofClaim = joined(
	columns.map((column) =>
		identifier(`${['organization_id', 'link_id'].includes(column) ? 'claimed' : 'made'}.${column}`),
	),
);
const attribution = attributionOfClick(sql`made.click_id`);

/** Inserts an attempt with the attribution of its click. */
const insertSql = (attempt: RecordedAttempt, values = own, from = sql``): Sql => sql`
	INSERT INTO match_attempts (${columnList}, attribution)
	SELECT ${values}, ${attribution}
	FROM ${from} json_populate_record(null::match_attempts, ${JSON.stringify(toColumns(attempt))}) AS made`;

/** Inserts it for the click of `claimed`, with its organization and its link. */
export const insertClaimSql = (attempt: RecordedAttempt): Sql => insertSql(attempt, ofClaim, sql`claimed,`);

export const recordAttempt = async (db: Db, attempt: RecordedAttempt): Promise<void> => {
	await execute(db, prepared('insert a match attempt', insertSql(attempt)));
};

/** The columns of an attempt, with the query of the click that it matched. */
export const attemptColumns = sql`${storedColumns.of('match_attempts')}, ${queryOfClick(sql`match_attempts.click_id`)} AS query`;

/** An organization's attempts, newest first. */
export const listAttempts = async (db: Db, organizationId: string, query: PageQuery): Promise<Page<MatchAttempt>> => {
	const from = sql`match_attempts WHERE organization_id = ${organizationId}`;
	const page = await readSqlPage<MatchAttemptRow>(
		db,
		{columns: attemptColumns, from, order: sql`at DESC, id DESC`},
		query,
	);
	return {...page, data: page.data.map(toMatchAttempt)};
};

const readAttempt = async (db: Db, condition: Sql): Promise<MatchAttempt | null> => {
	const [row] = await run<MatchAttemptRow>(db, sql`SELECT ${attemptColumns} FROM match_attempts WHERE ${condition}`);
	return row === undefined ? null : toMatchAttempt(row);
};

/** One attempt of the organization. @throws 404. */
export const getAttempt = async (db: Db, organizationId: string, id: string): Promise<MatchAttempt> =>
	required(await readAttempt(db, sql`id = ${id} AND organization_id = ${organizationId}`), matchAttemptNotFound);

/** The attempt with that id, of any organization or of none; null if none was recorded. Not for tenants. */
export const findAttempt = (db: Db, id: string): Promise<MatchAttempt | null> => readAttempt(db, sql`id = ${id}`);

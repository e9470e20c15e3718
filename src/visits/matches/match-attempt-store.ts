import type {Confidence} from '../../links/app-config/app-config.ts';
import type {Db} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, identifier, joined, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {matchAttemptNotFound, required} from '../../platform/errors.ts';
import type {RuledOut} from './candidate.ts';
import type {MissReason} from './guess.ts';
import type {Points} from './likeness.ts';
import {attributionOfClick, queryOfClick} from './match-clicks.ts';
import type {MatchMethod} from './match-policy.ts';

/** Whether a request carried a token, and whether a click has it. */
export type TokenSighting = 'absent' | 'unknown' | 'known';

/** The signals of a request, as it sent them, without its tokens; of the address only its family. */
export type AttemptSignals = {
	platform: string | null;
	osVersion: string | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
	network: 'IPv4' | 'IPv6';
	clipboardToken: TokenSighting;
	installReferrer: TokenSighting;
	apiKey: boolean;
};

export type CandidateTrace = {
	linkId: string;
	clickedAt: Date;
	/** The probability in percent. */
	score: number;
	/** The probability that the open came from this click; 0 if it is ruled out. */
	probability: number;
	/** The number of compared phones that resemble the click as much as the app's. */
	alike: number;
	compared: number;
	points: Points & {ip: number; network: number};
	ruledOut: RuledOut | null;
	/** The click came through iCloud Private Relay. */
	relay?: true;
};

/** A request for a match, its outcome and the reason (contract/match 11). */
export type MatchAttempt = {
	id: string;
	at: Date;
	organizationId: string | null;
	deviceId: string | null;
	matched: boolean;
	method: MatchMethod | 'NONE';
	confidence: Confidence | null;
	score: number | null;
	linkId: string | null;
	reason: MissReason | null;
	signals: AttemptSignals;
	/** Best first. */
	candidates: CandidateTrace[];
	/**
	 * The probability that no click led to the open; `tokenless`: the factor of every click because the open had no
	 * token; `made`: clicks of the address in 24 h, if known.
	 */
	nobody: {probability: number; tokenless: number; made: number | null} | null;
	/** The query of the matched click; omitted if it had none, or if it was cleared with the click's signals. */
	query?: Record<string, string>;
};

/** The answer that a guess would have given to a match by token. */
export type SilentGuess = {method: MatchMethod; confidence: Confidence; score: number; linkId: string};

export type MatchAttemptRow = {
	id: string;
	at: Date;
	organization_id: string | null;
	device_id: string | null;
	matched: boolean;
	method: MatchAttempt['method'];
	confidence: Confidence | null;
	score: number | null;
	link_id: string | null;
	reason: MissReason | null;
	signals: AttemptSignals;
	candidates: Array<Omit<CandidateTrace, 'clickedAt'> & {clickedAt: string}>;
	nobody: MatchAttempt['nobody'];
	query?: Record<string, string> | null;
};

export const toMatchAttempt = (row: MatchAttemptRow): MatchAttempt => ({
	id: row.id,
	at: row.at,
	organizationId: row.organization_id,
	deviceId: row.device_id,
	matched: row.matched,
	method: row.method,
	confidence: row.confidence,
	score: row.score,
	linkId: row.link_id,
	reason: row.reason,
	signals: row.signals,
	candidates: row.candidates.map((one) => ({...one, clickedAt: new Date(one.clickedAt)})),
	nobody: row.nobody,
	...(row.query ? {query: row.query} : {}),
});

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

/** The row of `match_attempts`. */
const attemptRow = ({silentGuess, clickId, hasToken, agentPlatform, ...attempt}: RecordedAttempt) => ({
	id: attempt.id,
	at: attempt.at,
	organization_id: attempt.organizationId,
	device_id: attempt.deviceId,
	matched: attempt.matched,
	method: attempt.method,
	confidence: attempt.confidence,
	score: attempt.score,
	link_id: attempt.linkId,
	click_id: clickId,
	reason: attempt.reason,
	signals: attempt.signals,
	candidates: attempt.candidates,
	nobody: attempt.nobody,
	silent_guess: silentGuess,
	has_token: hasToken,
	agent_platform: agentPlatform,
});

const columns = [
	'id',
	'at',
	'organization_id',
	'device_id',
	'matched',
	'method',
	'confidence',
	'score',
	'link_id',
	'click_id',
	'reason',
	'signals',
	'candidates',
	'nobody',
	'silent_guess',
	'has_token',
	'agent_platform',
] satisfies Array<keyof ReturnType<typeof attemptRow>>;

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
	FROM ${from} json_populate_record(null::match_attempts, ${JSON.stringify(attemptRow(attempt))}) AS made`;

/** Inserts it for the click of `claimed`, with its organization and its link. */
export const insertClaimSql = (attempt: RecordedAttempt): Sql => insertSql(attempt, ofClaim, sql`claimed,`);

export const recordAttempt = async (db: Db, attempt: RecordedAttempt): Promise<void> => {
	await execute(db, prepared('insert a match attempt', insertSql(attempt)));
};

/** The columns of an attempt, with the query of the click that it matched. */
export const attemptColumns = sql`match_attempts.*, ${queryOfClick(sql`match_attempts.click_id`)} AS query`;

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

import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../../platform/db/prepared.ts';
import type {Section} from './section.ts';
import type {Position} from './segments.ts';

/** A destination of a journal, which has a position of its own: ClickHouse may be unavailable while PostgreSQL is not. */
export type Sink = 'postgres' | 'clickHouse';

/** How far a journal has been drained; at first its beginning. */
export const readPosition = async (db: Db, journal: string, sink: Sink): Promise<Position> => {
	const [row] = (await db('click_journals').where({id: journal, sink}).select('segment', 'position')) as Array<{
		segment: number;
		position: string;
	}>;
	return row === undefined ? {segment: 0, position: 0} : {segment: row.segment, position: Number(row.position)};
};

export const forgetJournal = async (db: Db, journal: string): Promise<void> => {
	await db('click_journals').where({id: journal}).delete();
};

/** What exists of the organizations, links, contexts and campaigns of clicks, by id. */
export type Present = Record<'organizations' | 'links' | 'contexts' | 'campaigns', Set<string>>;

/**
 * @param step moves a journal's position, and returns a row if it was the expected one.
 */
const lookText = (step: string): string => `WITH owners AS (
		SELECT id FROM organizations WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE
	), moved AS (${step})
	SELECT (SELECT count(*) FROM moved)::integer AS steps, ARRAY(SELECT id::text FROM owners) AS organizations,
		ARRAY(SELECT id::text FROM links WHERE id = ANY($2::uuid[])) AS links,
		ARRAY(SELECT id::text FROM click_contexts WHERE id = ANY($3::bigint[])) AS contexts,
		ARRAY(SELECT id::text FROM click_campaigns WHERE id = ANY($4::bigint[])) AS campaigns`;

// Prepared, because there may be 25 batches a second.
const look: Prepared = {name: 'look before clicks are stored', text: lookText('SELECT 1')};
const first: Prepared = {
	name: 'begin a journal of clicks',
	text: lookText(
		`INSERT INTO click_journals (id, sink, segment, position) VALUES ($5, $6, $7, $8)
		ON CONFLICT (id, sink) DO NOTHING RETURNING 1`,
	),
};
const next: Prepared = {
	name: 'go on with a journal of clicks',
	text: lookText(
		`UPDATE click_journals SET segment = $7, position = $8, moved_at = now()
		WHERE id = $5 AND sink = $6 AND segment = $9 AND position = $10 RETURNING 1`,
	),
};

/** A move of a journal's position. It locks the journal's row until the transaction ends. */
export type Step = {sink: Sink; journal: string; from: Position; to: Position};

/**
 * Reads which organizations and links of the clicks exist, and moves the journal's position, in one statement.
 *
 * It locks the organizations until the transaction ends: the removal of one waits for its clicks, and deletes them, too.
 * It does not lock links, because that would write to each of them. A match that is opened while its link is being
 * deleted stays, has no effect, because a match reads its link, and expires.
 * @returns null if the journal's position was another one.
 */
export const begin = async (trx: Db, sections: readonly Section[], step: Step | null): Promise<Present | null> => {
	const isFirst = step !== null && step.from.segment === 0 && step.from.position === 0;
	const values = [
		[...ownersOf(sections)],
		[...linksOf(sections)],
		[...contextsOf(sections).keys()],
		[...campaignsOf(sections).keys()],
		...(step === null ? [] : [step.journal, step.sink, step.to.segment, step.to.position]),
		...(step === null || isFirst ? [] : [step.from.segment, step.from.position]),
	];
	const statement = step === null ? look : isFirst ? first : next;
	type Row = {steps: number} & Record<keyof Present, string[]>;
	const row = onlyRow(await runPrepared<Row>(trx, statement, values));
	return row.steps === 0
		? null
		: {
				organizations: new Set(row.organizations),
				links: new Set(row.links),
				contexts: new Set(row.contexts),
				campaigns: new Set(row.campaigns),
			};
};

export const ownersOf = (sections: readonly Section[]): Set<string> =>
	new Set(sections.flatMap(({counts}) => counts.map(({organizationId}) => organizationId)));
export const linksOf = (sections: readonly Section[]): Set<string> => new Set(sections.flatMap(({links}) => links));
export const contextsOf = (sections: readonly Section[]): Map<string, string> =>
	new Map(sections.flatMap(({contexts}) => Object.entries(contexts)));
export const campaignsOf = (sections: readonly Section[]): Map<string, string> =>
	new Map(sections.flatMap(({campaigns}) => Object.entries(campaigns)));

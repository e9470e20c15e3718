import {copyIn} from '../../db/copy-in.ts';
import {type Db, isRefusedValue, onlyRow} from '../../db/db.ts';
import {type Prepared, runPrepared} from '../../db/prepared.ts';
import {keepContexts} from '../click-context.ts';
import {clickColumns, type Entry, matchColumns} from './entry.ts';
import type {Position} from './position.ts';
import {reopenMatches} from './reopen-matches.ts';
import {entriesOf, type Section, sectionOf} from './section.ts';

/** How far a journal has been drained; at first its beginning. */
export const readPosition = async (db: Db, journal: string): Promise<Position> => {
	const [row] = (await db('click_journals').where({id: journal}).select('segment', 'position')) as Array<{
		segment: number;
		position: string;
	}>;
	return row === undefined ? {segment: 0, position: 0} : {segment: row.segment, position: Number(row.position)};
};

export const forgetJournal = async (db: Db, journal: string): Promise<void> => {
	await db('click_journals').where({id: journal}).delete();
};

/** The organizations, links and contexts of clicks that exist. */
type Present = {organizations: Set<string>; links: Set<string>; contexts: Set<string>};

/**
 * @param step moves a journal's position, and returns a row if it was the expected one.
 */
const lookText = (step: string): string => `WITH owners AS (
		SELECT id FROM organizations WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE
	), moved AS (${step})
	SELECT (SELECT count(*) FROM moved)::integer AS steps, ARRAY(SELECT id::text FROM owners) AS organizations,
		ARRAY(SELECT id::text FROM links WHERE id = ANY($2::uuid[])) AS links,
		ARRAY(SELECT id::text FROM click_contexts WHERE id = ANY($3::bigint[])) AS contexts`;

// Prepared, because there may be 25 batches a second.
const statements = {
	look: {name: 'look before clicks are stored', text: lookText('SELECT 1')},
	first: {
		name: 'begin a journal of clicks',
		text: lookText(
			`INSERT INTO click_journals (id, segment, position) VALUES ($4, $5, $6) ON CONFLICT (id) DO NOTHING RETURNING 1`,
		),
	},
	next: {
		name: 'go on with a journal of clicks',
		text: lookText(
			`UPDATE click_journals SET segment = $5, position = $6, moved_at = now()
			WHERE id = $4 AND segment = $7 AND position = $8 RETURNING 1`,
		),
	},
	count: {
		name: "count months' clicks",
		text: `INSERT INTO click_counts (organization_id, month, clicks)
			SELECT * FROM unnest($1::uuid[], $2::date[], $3::bigint[])
			ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + excluded.clicks`,
	},
} satisfies Record<string, Prepared>;

/** A move of a journal's position. It locks the journal's row until the transaction ends. */
type Step = {journal: string; from: Position; to: Position};

/**
 * Reads which organizations and links of the clicks exist, and moves the journal's position, in one statement.
 *
 * It locks the organizations until the transaction ends: the removal of one waits for its clicks, and deletes them, too.
 * It does not lock links, because that would write to each of them. A match that is opened while its link is being
 * deleted stays, has no effect, because a match reads its link, and expires.
 * @returns null if the journal's position was another one.
 */
const begin = async (trx: Db, sections: readonly Section[], step: Step | null): Promise<Present | null> => {
	const isFirst = step !== null && step.from.segment === 0 && step.from.position === 0;
	const values = [
		[...ownersOf(sections)],
		[...linksOf(sections)],
		[...contextsOf(sections).keys()],
		...(step === null ? [] : [step.journal, step.to.segment, step.to.position]),
		...(step === null || isFirst ? [] : [step.from.segment, step.from.position]),
	];
	const statement = step === null ? statements.look : isFirst ? statements.first : statements.next;
	type Row = {steps: number; organizations: string[]; links: string[]; contexts: string[]};
	const {steps, organizations, links, contexts} = onlyRow(await runPrepared<Row>(trx, statement, values));
	return steps === 0
		? null
		: {organizations: new Set(organizations), links: new Set(links), contexts: new Set(contexts)};
};

const ownersOf = (sections: readonly Section[]): Set<string> =>
	new Set(sections.flatMap(({counts}) => counts.map(({organizationId}) => organizationId)));
const linksOf = (sections: readonly Section[]): Set<string> => new Set(sections.flatMap(({links}) => links));
const contextsOf = (sections: readonly Section[]): Map<string, string> =>
	new Map(sections.flatMap(({contexts}) => Object.entries(contexts)));

/** Inserts the contexts that do not exist yet, as nearly all do. */
const keepMissing = async (trx: Db, sections: readonly Section[], present: Present): Promise<void> => {
	const missing = [...contextsOf(sections)].filter(([id]) => !present.contexts.has(id));
	if (missing.length > 0) {
		await keepContexts(trx, missing);
	}
};

const countMonths = async (trx: Db, sections: readonly Section[]): Promise<void> => {
	const counts = new Map<string, number>();
	for (const {organizationId, month, people} of sections.flatMap((section) => section.counts)) {
		if (people > 0) {
			const key = `${organizationId} ${month}-01`;
			counts.set(key, (counts.get(key) ?? 0) + people);
		}
	}

	if (counts.size === 0) {
		return;
	}

	// In one order everywhere, so that no two transactions wait for each other.
	const keys = [...counts.keys()].sort();
	await runPrepared(trx, statements.count, [
		keys.map((key) => key.slice(0, 36)),
		keys.map((key) => key.slice(37)),
		keys.map((key) => counts.get(key) ?? 0),
	]);
};

const copyClicks = `COPY clicks (${clickColumns.join(', ')}) FROM STDIN`;
const copyMatches = `COPY match_clicks (${matchColumns.join(', ')}) FROM STDIN`;

const write = async (trx: Db, sections: readonly Section[], present: Present): Promise<void> => {
	await copyIn(trx, copyClicks, Buffer.concat(sections.map(({clicks}) => clicks)));
	const opened = Buffer.concat(sections.map((section) => section.opened));
	if (opened.length > 0) {
		await copyIn(trx, copyMatches, opened);
	}

	// After the others, because a returning visit may reopen a match of the same batch.
	const returning = Buffer.concat(sections.map((section) => section.returning));
	if (returning.length > 0) {
		await reopenMatches(trx, returning.toString().trimEnd().split('\n'));
	}

	// After the matches, in the order of signals and erasures, so that no two wait for each other.
	await keepMissing(trx, sections, present);
	await countMonths(trx, sections);
};

/** Writes all entries that PostgreSQL accepts, and calls `refused` for those whose values it rejects. */
const writeAccepted = async (trx: Db, entries: Entry[], present: Present, refused: OnRefused): Promise<void> => {
	try {
		await trx.transaction((savepoint) => write(savepoint, [sectionOf(entries)], present));
	} catch (error) {
		const [only] = entries;
		if (!isRefusedValue(error) || only === undefined) {
			throw error;
		}

		if (entries.length === 1) {
			refused(only, error);
			return;
		}

		const middle = Math.ceil(entries.length / 2);
		await writeAccepted(trx, entries.slice(0, middle), present, refused);
		await writeAccepted(trx, entries.slice(middle), present, refused);
	}
};

/** Called for a click that PostgreSQL rejects, and would reject again. */
export type OnRefused = (entry: Entry, error: unknown) => void;

/** The sections without clicks of deleted organizations and matches of deleted links. */
const withoutGone = (sections: readonly Section[], {organizations, links}: Present): readonly Section[] => {
	if (organizations.size === ownersOf(sections).size && links.size === linksOf(sections).size) {
		return sections;
	}

	const entries = sections
		.flatMap(entriesOf)
		.filter(({organizationId}) => organizations.has(organizationId))
		.map((entry) => (links.has(entry.linkId) ? entry : {...entry, match: ''}));
	return entries.length === 0 ? [] : [sectionOf(entries)];
};

/** @returns false if the journal's position was another one. */
const writeAll = async (
	trx: Db,
	sections: readonly Section[],
	step: Step | null,
	careful: OnRefused | null,
): Promise<boolean> => {
	const present = await begin(trx, sections, step);
	if (present === null) {
		return false;
	}

	const kept = withoutGone(sections, present);
	if (kept.length > 0) {
		await (careful === null
			? write(trx, kept, present)
			: writeAccepted(trx, kept.flatMap(entriesOf), present, careful));
	}

	return true;
};

/** If PostgreSQL rejects a value, runs the transaction again with savepoints, which skips the rejected rows. */
const skippingRefused = async <T>(
	work: (careful: OnRefused | null) => Promise<T>,
	onRefused: OnRefused,
): Promise<T> => {
	try {
		return await work(null);
	} catch (error) {
		if (!isRefusedValue(error)) {
			throw error;
		}

		return work(onRefused);
	}
};

type Batch = {journal: string; from: Position; to: Position; sections: Section[]};

/**
 * Brings clicks of a journal into the tables and moves its position, both or neither. Rows of a deleted
 * organization are left out. A deleted link's clicks are kept, because they stay in the figures, but not its matches.
 * @returns false if another process has drained the journal, so that its position is another one.
 */
export const storeBatch = (db: Db, {journal, from, to, sections}: Batch, onRefused: OnRefused): Promise<boolean> =>
	skippingRefused(
		(careful) => db.transaction((trx) => writeAll(trx, sections, {journal, from, to}, careful)),
		onRefused,
	);

/** Brings clicks into the tables that no journal could store. */
export const storeSections = (db: Db, sections: readonly Section[], onRefused: OnRefused): Promise<boolean> =>
	skippingRefused((careful) => db.transaction((trx) => writeAll(trx, sections, null, careful)), onRefused);

/** The months of clicks: their partitions must exist before the clicks are stored. */
export const monthsOf = (sections: readonly Section[]): Date[] =>
	[...new Set(sections.flatMap(({counts}) => counts.map(({month}) => month)))].map(
		(month) => new Date(`${month}-01T00:00:00Z`),
	);

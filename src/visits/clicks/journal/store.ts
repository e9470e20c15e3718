import {hash} from 'node:crypto';
import {copyIn, readCopyText} from '../../../platform/db/copy.ts';
import {type Db, isRefusedValue, onlyRow} from '../../../platform/db/db.ts';
import {execute, identifier, joined, prepared, run, type Sql, sql} from '../../../platform/db/sql.ts';
import {copyMatches, reopenMatches} from '../../matches/match-clicks.ts';
import {campaigns, contexts} from '../../visit/click-context.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import {tally} from '../counted-clicks.ts';
import {clickColumns, type Entry} from './entry.ts';
import type {Position} from './files.ts';
import {entriesOf, linksOf, organizationsOf, type Section, sectionOf, sharedRowsOf} from './section.ts';

/** A destination of a journal, with a position of its own: ClickHouse may be unavailable while PostgreSQL is not. */
export type Sink = 'postgres' | 'clickHouse';

/** A move of a journal's position. It locks the journal's row until the transaction ends. */
export type Step = {sink: Sink; journal: string; from: Position; to: Position};

/** ClickHouse, which has the rows of clicks if it is configured. */
export type ClickHouseRows = {
	/**
	 * Stores the rows of a batch, and notes it in the transaction. A repeated batch changes nothing.
	 * @throws if ClickHouse is unavailable.
	 */
	store(trx: Db, batch: string, sections: readonly Section[]): Promise<void>;
};

/** Called for a click that PostgreSQL rejects, and would reject again. */
export type OnRefused = (entry: Entry, error: unknown) => void;

/** The destination of clicks. */
export type Stores = {
	db: Db;
	clickPartitions: ClickPartitions;
	/** Null: the rows of clicks are in PostgreSQL, too. */
	clickHouse: ClickHouseRows | null;
	onRefused: OnRefused;
};

/** The id of the batch that begins at a position. A retry gets the same one. */
export const batchId = (journal: string, {segment, position}: Position): string => {
	const digits = hash('sha256', `${journal}:${segment}:${position}`, 'hex');
	return [8, 12, 16, 20, 32].map((end, index) => digits.slice([0, 8, 12, 16, 20][index], end)).join('-');
};

/** The ids of the organizations, links, contexts and campaigns of clicks that exist. */
type ExistingIds = Record<'organizations' | 'links' | 'contexts' | 'campaigns', Set<string>>;

/** Moves a journal's position, and returns a row if it was the expected one. */
const moveOf = ({journal, sink, from, to}: Step): {name: string; move: Sql} =>
	from.segment === 0 && from.position === 0
		? {
				name: 'begin a journal of clicks',
				move: sql`INSERT INTO click_journals (id, sink, segment, position)
					VALUES (${journal}, ${sink}, ${to.segment}, ${to.position}) ON CONFLICT (id, sink) DO NOTHING RETURNING 1`,
			}
		: {
				name: 'go on with a journal of clicks',
				move: sql`UPDATE click_journals SET segment = ${to.segment}, position = ${to.position}, moved_at = now()
					WHERE id = ${journal} AND sink = ${sink} AND segment = ${from.segment} AND position = ${from.position} RETURNING 1`,
			};

/**
 * Reads which organizations and links of the clicks exist, and moves the journal's position, in one statement.
 *
 * It locks the organizations until the transaction ends: the removal of one waits for its clicks, and deletes them, too.
 * It does not lock links, because that would write to each of them. A match that is opened while its link is being
 * deleted stays, has no effect, because a match reads its link, and expires.
 * @returns null if the journal's position was another one.
 */
export const moveAndReadExisting = async (
	trx: Db,
	sections: readonly Section[],
	step: Step | null,
): Promise<ExistingIds | null> => {
	const {name, move} = step === null ? {name: 'look before clicks are stored', move: sql`SELECT 1`} : moveOf(step);
	const ids = (kind: 'contexts' | 'campaigns') => [...sharedRowsOf(sections, kind).keys()];
	// Prepared, because there may be 25 batches a second.
	const statement = prepared(
		name,
		sql`WITH owners AS (
				SELECT id FROM organizations WHERE id = ANY(${[...organizationsOf(sections)]}::uuid[]) ORDER BY id FOR KEY SHARE
			), moved AS (${move})
			SELECT (SELECT count(*) FROM moved)::integer AS steps, ARRAY(SELECT id::text FROM owners) AS organizations,
				ARRAY(SELECT id::text FROM links WHERE id = ANY(${[...linksOf(sections)]}::uuid[])) AS links,
				ARRAY(SELECT id::text FROM click_contexts WHERE id = ANY(${ids('contexts')}::bigint[])) AS contexts,
				ARRAY(SELECT id::text FROM click_campaigns WHERE id = ANY(${ids('campaigns')}::bigint[])) AS campaigns`,
	);
	type Row = {steps: number} & Record<keyof ExistingIds, string[]>;
	const {steps, ...row} = onlyRow(await run<Row>(trx, statement));
	return steps === 0
		? null
		: {
				organizations: new Set(row.organizations),
				links: new Set(row.links),
				contexts: new Set(row.contexts),
				campaigns: new Set(row.campaigns),
			};
};

/** Inserts rows of contexts or campaigns unless they exist. @param rows rows of COPY by their ids. */
export const insertSharedRows = async (
	trx: Db,
	{table, columns, textsOf}: typeof contexts | typeof campaigns,
	rows: ReadonlyArray<[id: string, row: string]>,
): Promise<void> => {
	const names = joined(['id', 'month', ...columns].map(identifier));
	// In the same order everywhere, to avoid deadlocks.
	const sorted = rows.toSorted(([one], [other]) => (one < other ? -1 : 1));
	const records = sorted.map(([id, row]) => ({
		id,
		...Object.fromEntries(Object.entries(textsOf(row)).map(([column, text]) => [column, readCopyText(text)])),
	}));
	const statement = sql`INSERT INTO ${identifier(table)} (${names})
		SELECT ${names} FROM json_populate_recordset(CAST(NULL AS ${identifier(table)}), ${JSON.stringify(records)}::json)
		ON CONFLICT DO NOTHING`;
	await execute(trx, prepared(`keep ${table}`, statement));
};

/** Inserts missing contexts and campaigns. Nearly all exist already. */
const insertMissing = async (trx: Db, sections: readonly Section[], existing: ExistingIds): Promise<void> => {
	for (const [kind, table] of [
		['contexts', contexts],
		['campaigns', campaigns],
	] as const) {
		const missing = [...sharedRowsOf(sections, kind)].filter(([id]) => !existing[kind].has(id));
		if (missing.length > 0) {
			await insertSharedRows(trx, table, missing);
		}
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

	// In the same order everywhere, to avoid deadlocks.
	const keys = [...counts.keys()].sort();
	const [organizations, months] = [keys.map((key) => key.slice(0, 36)), keys.map((key) => key.slice(37))];
	const clicks = keys.map((key) => counts.get(key));
	await execute(
		trx,
		prepared(
			"count months' clicks",
			sql`INSERT INTO click_counts (organization_id, month, clicks)
				SELECT * FROM unnest(${organizations}::uuid[], ${months}::date[], ${clicks}::bigint[])
				ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + excluded.clicks`,
		),
	);
};

const copyClicks = `COPY clicks (${clickColumns.join(', ')}) FROM STDIN`;

/** The state that all clicks of a transaction share. */
type Work = {existing: ExistingIds; inClickHouse: boolean};

export const write = async (trx: Db, sections: readonly Section[], {existing, inClickHouse}: Work): Promise<void> => {
	const copy = async (statement: string, part: 'clicks' | 'opened' | 'queried') => {
		const rows = Buffer.concat(sections.map((section) => section[part]));
		if (rows.length > 0) {
			await copyIn(trx, statement, rows);
		}
	};
	await (inClickHouse ? tally(trx, sections) : copy(copyClicks, 'clicks'));
	await copy(copyMatches.opened, 'opened');
	await copy(copyMatches.queried, 'queried');

	// After the others, because a returning visit may reopen a match of the same batch.
	const returning = Buffer.concat(sections.map((section) => section.returning));
	if (returning.length > 0) {
		await reopenMatches(trx, returning.toString().trimEnd().split('\n'));
	}

	// After the matches, in the order of signals and erasures, to avoid deadlocks.
	await insertMissing(trx, sections, existing);
	await countMonths(trx, sections);
};

/**
 * Writes all entries that PostgreSQL accepts, and calls `refused` for those whose values it rejects. A rejected batch is
 * halved until the entry is alone.
 */
export const writeAccepted = async (trx: Db, entries: Entry[], work: Work, refused: OnRefused): Promise<void> => {
	try {
		await trx.transaction((savepoint) => write(savepoint, [sectionOf(entries)], work));
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
		await writeAccepted(trx, entries.slice(0, middle), work, refused);
		await writeAccepted(trx, entries.slice(middle), work, refused);
	}
};

/** Omits the clicks of deleted organizations, and the matches of deleted links. */
export const onlyExisting = (sections: readonly Section[], {organizations, links}: ExistingIds): readonly Section[] => {
	if (organizations.size === organizationsOf(sections).size && links.size === linksOf(sections).size) {
		return sections;
	}

	const entries = sections
		.flatMap(entriesOf)
		.filter(({organizationId}) => organizations.has(organizationId))
		.map((entry) => (links.has(entry.linkId) ? entry : {...entry, match: ''}));
	return entries.length === 0 ? [] : [sectionOf(entries)];
};

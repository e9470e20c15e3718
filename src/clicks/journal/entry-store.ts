import {copyIn} from '../../db/copy-in.ts';
import {type Db, isRefusedValue} from '../../db/db.ts';
import {clickColumns, type Entry, linkOf, matchColumns, occurredAt, organizationOf} from './entry.ts';
import {reopenMatches} from './reopen-matches.ts';

/** A place in a journal: everything before it is in the tables. */
export type Position = {segment: number; position: number};

/** How far a journal has been drained; its beginning where nothing of it has been. */
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

/** Moves a journal's position, which holds its row until the transaction ends. @returns false where it stood elsewhere. */
const advance = async (trx: Db, journal: string, from: Position, to: Position): Promise<boolean> => {
	const isFirst = from.segment === 0 && from.position === 0;
	const {rowCount} = await trx.raw<{rowCount: number}>(
		isFirst
			? 'INSERT INTO click_journals (id, segment, position) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING'
			: 'UPDATE click_journals SET segment = ?, position = ?, moved_at = now() WHERE id = ? AND segment = ? AND position = ?',
		isFirst ? [journal, to.segment, to.position] : [to.segment, to.position, journal, from.segment, from.position],
	);
	return rowCount === 1;
};

/** Those of the ids that are there, and stay there until the transaction ends. */
const present = async (trx: Db, table: 'organizations' | 'links', ids: Iterable<string>): Promise<Set<string>> => {
	const {rows} = await trx.raw<{rows: Array<{id: string}>}>(
		`SELECT id FROM ${table} WHERE id = ANY(CAST(? AS uuid[])) ORDER BY id FOR KEY SHARE`,
		[[...ids]],
	);
	return new Set(rows.map(({id}) => id));
};

const countMonths = async (trx: Db, entries: Entry[]): Promise<void> => {
	const counts = new Map<string, number>();
	for (const entry of entries) {
		if (entry.counts) {
			const key = `${organizationOf(entry)} ${occurredAt(entry).slice(0, 7)}-01`;
			counts.set(key, (counts.get(key) ?? 0) + 1);
		}
	}

	if (counts.size === 0) {
		return;
	}

	// In one order everywhere, so that no two transactions wait for each other.
	const keys = [...counts.keys()].sort();
	await trx.raw(
		`INSERT INTO click_counts (organization_id, month, clicks)
		SELECT * FROM unnest(CAST(? AS uuid[]), CAST(? AS date[]), CAST(? AS bigint[]))
		ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + excluded.clicks`,
		[keys.map((key) => key.slice(0, 36)), keys.map((key) => key.slice(37)), keys.map((key) => counts.get(key) ?? 0)],
	);
};

const copyClicks = `COPY clicks (${clickColumns.join(', ')}) FROM STDIN`;
const copyMatches = `COPY match_clicks (${matchColumns.join(', ')}) FROM STDIN`;

const write = async (trx: Db, entries: Entry[], links: Set<string>): Promise<void> => {
	const matches = entries.flatMap((entry) => (entry.match !== null && links.has(linkOf(entry)) ? [entry.match] : []));
	await copyIn(trx, copyClicks, entries.map(({row}) => `${row}\n`).join(''));
	const opened = matches.filter(({isReturning}) => !isReturning);
	if (opened.length > 0) {
		await copyIn(trx, copyMatches, opened.map(({row}) => `${row}\n`).join(''));
	}

	// After the others, because what a visit goes on with may have been opened in the same breath.
	await reopenMatches(
		trx,
		matches.filter(({isReturning}) => isReturning).map(({row}) => row),
	);
	await countMonths(trx, entries);
};

/** Writes all that can be written: what PostgreSQL refuses by its value is left out, and handed to `refused`. */
const writeWhatCanBe = async (trx: Db, entries: Entry[], links: Set<string>, refused: OnRefused): Promise<void> => {
	try {
		await trx.transaction((savepoint) => write(savepoint, entries, links));
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
		await writeWhatCanBe(trx, entries.slice(0, middle), links, refused);
		await writeWhatCanBe(trx, entries.slice(middle), links, refused);
	}
};

/** Called for a click that PostgreSQL refused and would refuse again. */
export type OnRefused = (entry: Entry, error: unknown) => void;

const writeAll = async (trx: Db, entries: Entry[], careful: OnRefused | null): Promise<void> => {
	const organizations = await present(trx, 'organizations', new Set(entries.map(organizationOf)));
	const kept = entries.filter((entry) => organizations.has(organizationOf(entry)));
	if (kept.length === 0) {
		return;
	}

	const deferred = new Set(kept.filter(({match}) => match !== null).map(linkOf));
	const links = deferred.size === 0 ? deferred : await present(trx, 'links', deferred);
	await (careful === null ? write(trx, kept, links) : writeWhatCanBe(trx, kept, links, careful));
};

/** Runs a transaction once more, going around what PostgreSQL refuses at the price of savepoints, where it refused any. */
const goingAround = async <T>(work: (careful: OnRefused | null) => Promise<T>, onRefused: OnRefused): Promise<T> => {
	try {
		return await work(null);
	} catch (error) {
		if (!isRefusedValue(error)) {
			throw error;
		}

		return work(onRefused);
	}
};

export type Batch = {journal: string; from: Position; to: Position; entries: Entry[]};

/**
 * Brings clicks of a journal into the tables and moves its position, both or neither. What belongs to an organization
 * that is gone is left out; of a link that is gone the click is kept, which outlives it in the figures, and no match.
 * @returns false where the journal stood elsewhere, because another process has drained it.
 */
export const storeBatch = (db: Db, {journal, from, to, entries}: Batch, onRefused: OnRefused): Promise<boolean> =>
	goingAround(
		(careful) =>
			db.transaction(async (trx) => {
				if (!(await advance(trx, journal, from, to))) {
					return false;
				}

				await writeAll(trx, entries, careful);
				return true;
			}),
		onRefused,
	);

/** Brings clicks into the tables that no journal could take. */
export const storeEntries = (db: Db, entries: Entry[], onRefused: OnRefused): Promise<void> =>
	goingAround((careful) => db.transaction((trx) => writeAll(trx, entries, careful)), onRefused);

/** Which clicks of a batch are of which months: each month's partition has to be there before. */
export const monthsOf = (entries: Entry[]): Date[] =>
	[...new Set(entries.map((entry) => occurredAt(entry).slice(0, 7)))].map((month) => new Date(`${month}-01T00:00:00Z`));

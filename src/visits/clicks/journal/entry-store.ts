import {hash, randomUUID} from 'node:crypto';
import {createBatches} from '../../../platform/db/batches.ts';
import {copyIn} from '../../../platform/db/copy-in.ts';
import {type Db, isRefusedValue} from '../../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../../platform/db/prepared.ts';
import {campaigns, contexts} from '../click-context.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import {keepWords} from '../keep-words.ts';
import {tally} from './counted-clicks.ts';
import {clickColumns, type Entry, matchColumns, queriedColumns} from './entry.ts';
import {begin, campaignsOf, contextsOf, linksOf, ownersOf, type Present, type Step} from './journal-position.ts';
import {reopenMatches} from './reopen-matches.ts';
import {entriesOf, type Section, sectionOf} from './section.ts';
import type {Position} from './segments.ts';

/** ClickHouse, which has the rows of clicks if it is configured. */
export type ClickHouseRows = {
	/**
	 * Stores the rows of a batch, and notes in the transaction that they are there. A repeated batch changes nothing.
	 * @throws if ClickHouse is unavailable.
	 */
	store(trx: Db, batch: string, sections: readonly Section[]): Promise<void>;
};

/** The id of the batch that begins at a position. A retry gets the same one. */
export const batchId = (journal: string, {segment, position}: Position): string => {
	const digits = hash('sha256', `${journal}:${segment}:${position}`, 'hex');
	return [8, 12, 16, 20, 32].map((end, index) => digits.slice([0, 8, 12, 16, 20][index], end)).join('-');
};

const count: Prepared = {
	name: "count months' clicks",
	text: `INSERT INTO click_counts (organization_id, month, clicks)
		SELECT * FROM unnest($1::uuid[], $2::date[], $3::bigint[])
		ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + excluded.clicks`,
};

/** Inserts missing contexts and campaigns. Nearly all exist already. */
const keepMissing = async (trx: Db, sections: readonly Section[], present: Present): Promise<void> => {
	for (const [words, rows, known] of [
		[contexts, contextsOf(sections), present.contexts],
		[campaigns, campaignsOf(sections), present.campaigns],
	] as const) {
		const missing = [...rows].filter(([id]) => !known.has(id));
		if (missing.length > 0) {
			await keepWords(trx, words, missing);
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
	await runPrepared(trx, count, [
		keys.map((key) => key.slice(0, 36)),
		keys.map((key) => key.slice(37)),
		keys.map((key) => counts.get(key) ?? 0),
	]);
};

const copyClicks = `COPY clicks (${clickColumns.join(', ')}) FROM STDIN`;

/** The state that all clicks of a transaction share. */
type Work = {present: Present; inClickHouse: boolean};

const write = async (trx: Db, sections: readonly Section[], {present, inClickHouse}: Work): Promise<void> => {
	await (inClickHouse
		? tally(trx, sections)
		: copyIn(trx, copyClicks, Buffer.concat(sections.map(({clicks}) => clicks))));
	for (const [part, columns] of [
		['opened', matchColumns],
		['queried', queriedColumns],
	] as const) {
		const rows = Buffer.concat(sections.map((section) => section[part]));
		if (rows.length > 0) {
			await copyIn(trx, `COPY match_clicks (${columns.join(', ')}) FROM STDIN`, rows);
		}
	}

	// After the others, because a returning visit may reopen a match of the same batch.
	const returning = Buffer.concat(sections.map((section) => section.returning));
	if (returning.length > 0) {
		await reopenMatches(trx, returning.toString().trimEnd().split('\n'));
	}

	// After the matches, in the order of signals and erasures, to avoid deadlocks.
	await keepMissing(trx, sections, present);
	await countMonths(trx, sections);
};

/**
 * Writes all entries that PostgreSQL accepts, and calls `refused` for those whose values it rejects. A rejected batch is
 * halved until the entry is alone.
 */
const writeAccepted = async (trx: Db, entries: Entry[], work: Work, refused: OnRefused): Promise<void> => {
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

/** Called for a click that PostgreSQL rejects, and would reject again. */
export type OnRefused = (entry: Entry, error: unknown) => void;

/** Leaves out the clicks of deleted organizations, and the matches of deleted links. */
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

/** @param onRefused null: a refused value fails the batch. @returns false if the journal's position was another one. */
const writeAll = async (
	trx: Db,
	sections: readonly Section[],
	{step, clickHouse}: {step: Step | null; clickHouse: ClickHouseRows | null},
	onRefused: OnRefused | null,
): Promise<boolean> => {
	const present = await begin(trx, sections, step);
	if (present === null) {
		return false;
	}

	const kept = withoutGone(sections, present);
	if (kept.length > 0) {
		const work = {present, inClickHouse: clickHouse !== null};
		await (onRefused === null ? write(trx, kept, work) : writeAccepted(trx, kept.flatMap(entriesOf), work, onRefused));
		// Without a journal nothing would retry these rows.
		if (clickHouse !== null && step === null) {
			await clickHouse.store(trx, randomUUID(), kept);
		}
	}

	return true;
};

/** The months of clicks: their partitions must exist before the clicks are stored. */
const monthsOf = (sections: readonly Section[]): Date[] =>
	[...new Set(sections.flatMap(({counts}) => counts.map(({month}) => month)))].map(
		(month) => new Date(`${month}-01T00:00:00Z`),
	);

/** Where clicks are stored. */
export type Stores = {
	db: Db;
	clickPartitions: ClickPartitions;
	/** Null: the rows of clicks are in PostgreSQL, too. */
	clickHouse: ClickHouseRows | null;
	onRefused: OnRefused;
};

/**
 * Brings clicks into PostgreSQL, and moves the position of their journal, both or neither. Rows of a deleted
 * organization are left out. A deleted link's clicks are kept, because they stay in the figures, but not its matches. If
 * PostgreSQL rejects a value, runs the transaction again with savepoints, which skips the rejected rows.
 * @param step null for clicks that no journal could store: their rows are brought into ClickHouse at once.
 * @returns false if the journal's position is another one, because another process has drained it or an answer was lost.
 */
export const storeInPostgres = async (
	{db, clickPartitions, clickHouse, onRefused}: Stores,
	sections: readonly Section[],
	step: Step | null,
): Promise<boolean> => {
	for (const month of clickHouse === null ? monthsOf(sections) : []) {
		await clickPartitions.ensure(month);
	}

	const store = (refused: OnRefused | null): Promise<boolean> =>
		db.transaction((trx) => writeAll(trx, sections, {step, clickHouse}, refused));
	try {
		return await store(null);
	} catch (error) {
		if (!isRefusedValue(error)) {
			throw error;
		}

		return store(onRefused);
	}
};

/**
 * Brings the rows of a journal's clicks into ClickHouse and moves its position there. A transaction that fails after
 * that is repeated from the same position, with the same batch and the same ids, so that each click is there once.
 * @returns false like `storeInPostgres`.
 */
export const storeInClickHouse = (
	db: Db,
	clickHouse: ClickHouseRows,
	sections: readonly Section[],
	step: Step,
): Promise<boolean> =>
	db.transaction(async (trx) => {
		const present = await begin(trx, sections, step);
		if (present === null) {
			return false;
		}

		const kept = withoutGone(sections, present);
		if (kept.length > 0) {
			await clickHouse.store(trx, batchId(step.journal, step.from), kept);
		}

		return true;
	});

/**
 * Writes clicks that the journal cannot take, in batches: each holds the clicks that arrived during the previous write.
 * It uses one connection, so that a full disk does not exhaust the pool.
 * @returns a promise that resolves when the click is in the tables.
 */
export const createDirectWriter = (stores: Stores): ((entry: Entry) => Promise<unknown>) =>
	createBatches<Entry, true>({
		many: async (entries) => {
			await storeInPostgres(stores, [sectionOf(entries)], null);
			return entries.map(() => true);
		},
	});

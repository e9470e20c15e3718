import {randomUUID} from 'node:crypto';
import path from 'node:path';
import {createBatches} from '../../../platform/db/batches.ts';
import {type Db, isRefusedValue} from '../../../platform/db/db.ts';
import type {Entry} from './entry.ts';
import {isBefore, type OnDamage, type Position, readChunk, removeBefore, restBehind} from './files.ts';
import {decodeSection, entriesOf, type Section, sectionOf} from './section.ts';
import {
	batchId,
	type ClickHouseRows,
	moveAndReadExisting,
	type OnRefused,
	onlyExisting,
	type Sink,
	type Step,
	type Stores,
	write,
	writeAccepted,
} from './store.ts';

/** The months of clicks: their partitions must exist before the clicks are stored. */
const monthsOf = (sections: readonly Section[]): Date[] =>
	[...new Set(sections.flatMap(({counts}) => counts.map(({month}) => month)))].map(
		(month) => new Date(`${month}-01T00:00:00Z`),
	);

/**
 * Stores clicks in PostgreSQL, and moves the position of their journal, both or neither. Rows of a deleted organization
 * are omitted. A deleted link's clicks are kept, because they stay in the figures, but not its matches. If PostgreSQL
 * rejects a value, runs the transaction again with savepoints, which skips the rejected rows.
 * @param step null for clicks that no journal could store: their rows are stored in ClickHouse at once.
 * @returns false if the journal's position was another one, because another process has drained it or an answer was lost.
 */
const storeInPostgres = async (
	{db, clickPartitions, clickHouse, onRefused}: Stores,
	sections: readonly Section[],
	step: Step | null,
): Promise<boolean> => {
	for (const month of clickHouse === null ? monthsOf(sections) : []) {
		await clickPartitions.ensure(month);
	}

	/** @param refused null: a refused value fails the batch. */
	const store = (refused: OnRefused | null): Promise<boolean> =>
		db.transaction(async (trx) => {
			const existing = await moveAndReadExisting(trx, sections, step);
			const kept = existing === null ? [] : onlyExisting(sections, existing);
			if (existing !== null && kept.length > 0) {
				const work = {existing, inClickHouse: clickHouse !== null};
				await (refused === null ? write(trx, kept, work) : writeAccepted(trx, kept.flatMap(entriesOf), work, refused));
				// Without a journal nothing would retry these rows.
				if (clickHouse !== null && step === null) {
					await clickHouse.store(trx, randomUUID(), kept);
				}
			}

			return existing !== null;
		});
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
 * Stores the rows of a journal's clicks in ClickHouse and moves its position there. A transaction that fails after that
 * is repeated from the same position, with the same batch and the same ids: each click is there once.
 * @returns false like `storeInPostgres`.
 */
const storeInClickHouse = (
	db: Db,
	clickHouse: ClickHouseRows,
	sections: readonly Section[],
	step: Step,
): Promise<boolean> =>
	db.transaction(async (trx) => {
		const existing = await moveAndReadExisting(trx, sections, step);
		const kept = existing === null ? [] : onlyExisting(sections, existing);
		if (kept.length > 0) {
			await clickHouse.store(trx, batchId(step.journal, step.from), kept);
		}

		return existing !== null;
	});

/**
 * Writes clicks that the journal cannot take, in batches: each holds the clicks that arrived during the previous write.
 * It uses one connection: a full disk does not exhaust the pool.
 * @returns a promise that resolves when the click is in the tables.
 */
export const createDirectWriter = (stores: Stores): ((entry: Entry) => Promise<unknown>) =>
	createBatches<Entry, true>({
		many: async (entries) => {
			await storeInPostgres(stores, [sectionOf(entries)], null);
			return entries.map(() => true);
		},
	});

type CursorOptions = {
	db: Db;
	folder: string;
	sink: Sink;
	onDamage: OnDamage;
	/** Stores clicks and moves the position, both or neither; false if the position was another one. */
	store: (sections: Section[], step: Step) => Promise<boolean>;
	/** Called when the position has reached another file. */
	onNextFile: () => void;
};

/**
 * Copies a journal to a sink. The position in PostgreSQL decides the next click: each is written exactly once,
 * even if another process copies it or a transaction's outcome is unknown.
 */
class JournalCursor {
	readonly #options: CursorOptions;
	#at: Position = {segment: 0, position: 0};
	/** False if a transaction of unknown outcome may have moved the position. */
	#isKnown = false;

	constructor(options: CursorOptions) {
		this.#options = options;
	}

	/** The last known position. */
	get position(): Position {
		return this.#at;
	}

	/** Copies the next clicks. @returns how many; null if there were none. @throws errors of the database and the disk. */
	async step(): Promise<number | null> {
		const {folder, sink, onDamage, store, onNextFile} = this.#options;
		const journal = path.basename(folder);
		const from = this.#isKnown ? this.#at : await this.#read(journal);
		const chunk = readChunk(folder, from);
		if (chunk === null) {
			return null;
		}

		// Before the position moves past it: afterwards its file may be removed at any time.
		for (const damage of chunk.damage) {
			onDamage(folder, damage);
		}

		const sections = chunk.payloads.map(decodeSection);
		const {to} = chunk;
		this.#isKnown = false;
		if (!(await store(sections, {sink, journal, from, to}))) {
			return 0;
		}

		this.#at = to;
		this.#isKnown = true;
		if (to.segment > from.segment) {
			onNextFile();
		}

		return sections.flatMap(({counts}) => counts).reduce((sum, {clicks}) => sum + clicks, 0);
	}

	/** Reads the position; a new journal is at its beginning. */
	async #read(journal: string): Promise<Position> {
		const {db, sink} = this.#options;
		const row = await db('click_journals').where({id: journal, sink}).first('segment', 'position');
		this.#at = {segment: row?.segment ?? 0, position: Number(row?.position ?? 0)};
		this.#isKnown = true;
		return this.#at;
	}
}

/**
 * The cursors of a journal: to PostgreSQL, and, with `CLICKS_URL`, to ClickHouse. They do not wait for each other. A file
 * is removed when both are past it.
 */
export class JournalCursors {
	readonly toPostgres: JournalCursor;
	readonly toClickHouse: JournalCursor | null;
	readonly #folder: string;
	readonly #onDamage: OnDamage;

	constructor(folder: string, {onDamage, ...stores}: Stores & {onDamage: OnDamage}) {
		const {db, clickHouse} = stores;
		const shared = {db, folder, onDamage, onNextFile: () => removeBefore(folder, this.position)};
		this.#folder = folder;
		this.#onDamage = onDamage;
		this.toPostgres = new JournalCursor({
			...shared,
			sink: 'postgres',
			store: (sections, step) => storeInPostgres(stores, sections, step),
		});
		this.toClickHouse =
			clickHouse &&
			new JournalCursor({
				...shared,
				sink: 'clickHouse',
				store: (sections, step) => storeInClickHouse(db, clickHouse, sections, step),
			});
	}

	/** Everything before it is in every sink. */
	get position(): Position {
		const [postgres, clickHouse] = [this.toPostgres.position, this.toClickHouse?.position];
		return clickHouse !== undefined && isBefore(clickHouse, postgres) ? clickHouse : postgres;
	}

	/** Reports the bytes behind the last frame of a dead process's journal, before the journal is removed. */
	reportRest(): void {
		for (const damage of restBehind(this.#folder, this.toPostgres.position)) {
			this.#onDamage(this.#folder, damage);
		}
	}
}

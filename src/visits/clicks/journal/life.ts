import {existsSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import type {Logger} from 'pino';
import type {Db} from '../../../platform/db/db.ts';
import {Loop} from '../../../platform/loop.ts';
import {within} from '../../../platform/within.ts';
import type {JournalCursors} from './cursors.ts';
import {createJournalFolder, findAbandoned, isBefore, type JournalFolder, journalRoot} from './files.ts';
import {JournalWriter} from './writer.ts';

const SYNC_MS = 1000;
/** How often failed work is retried: to begin a journal, and to drain those of dead processes. */
const RETRY_MS = 10_000;
/** How long a start and a stop wait for the journals of dead processes. */
const WAIT_MS = 5000;

/** A journal that is being written. */
export type CurrentJournal = JournalFolder & {id: string; writer: JournalWriter; cursors: JournalCursors};

/** A journal that a dead process left behind. */
type AbandonedJournal = {folder: string; cursors: JournalCursors};

type Options = {
	db: Db;
	log: Logger;
	dataDir: string;
	cursorsOf: (folder: string) => JournalCursors;
	/** Called when no journal can be begun. */
	onFailure: (error: unknown) => void;
};

/** Manages the journal that a process writes, from beginning to end, and drains those of dead processes. */
export class JournalManager {
	readonly #options: Options;
	/** Shared while it runs, because a store that does not answer must not hold a connection for each attempt. */
	readonly #work = new Loop(() => this.#beginAndDrain());
	readonly #syncs = new Loop(async () => {
		this.#current?.writer.sync();
		return SYNC_MS;
	});
	#root: string | null = null;
	#current: CurrentJournal | null = null;
	#abandoned: AbandonedJournal[] = [];
	#isClosed = false;

	constructor(options: Options) {
		this.#options = options;
	}

	/** Null if there is no journal to write to. */
	get current(): CurrentJournal | null {
		return this.#current;
	}

	/** Begins a journal, and drains those of dead processes. Both are retried if they fail. */
	async start(): Promise<void> {
		await within(WAIT_MS, this.#work.run());
		this.#syncs.wake(SYNC_MS);
	}

	/** Switches to a new journal, because the files of this one have been removed. */
	replace(journal: CurrentJournal): void {
		if (this.#current === journal && this.#root !== null) {
			this.#current = null;
			this.#options.log.error({journal: journal.id}, 'click journal files disappeared; starting a new click journal');
			journal.writer.close();
			journal.unlock();
			this.#beginIn(this.#root).catch(this.#options.onFailure);
		}
	}

	/** Ends the maintenance. Waits some seconds for the journals of dead processes. */
	async finish(): Promise<void> {
		void this.#syncs.stop();
		await within(WAIT_MS, this.#work.stop());
		this.#isClosed = true;
		await within(WAIT_MS, this.#work.stop());
	}

	/** Removes a journal whose writer is closed, or leaves undrained clicks to the next start. */
	async leave(journal: CurrentJournal): Promise<void> {
		if (isBefore(journal.cursors.position, journal.writer.end)) {
			this.#options.log.warn({journal: journal.id}, 'clicks remain in the journal until the next start');
		} else {
			await this.#remove(journal.folder);
		}

		journal.unlock();
	}

	async #beginAndDrain(): Promise<number> {
		const {db, dataDir, cursorsOf, onFailure} = this.#options;
		try {
			if (this.#root === null) {
				const root = await journalRoot(db, dataDir);
				await this.#beginIn(root);
				this.#root = root;
				this.#abandoned = (await findAbandoned(root)).map((folder) => ({folder, cursors: cursorsOf(folder)}));
			}

			await this.#drainAbandoned();
		} catch (error) {
			onFailure(error);
		}

		return RETRY_MS;
	}

	async #beginIn(root: string): Promise<void> {
		const {folder, unlock} = await createJournalFolder(root);
		const cursors = this.#options.cursorsOf(folder);
		this.#current = {id: path.basename(folder), folder, unlock, writer: new JournalWriter(folder), cursors};
	}

	/**
	 * Drains the journals of dead processes. One that fails does not delay the others, nor ClickHouse clicks for PostgreSQL.
	 */
	async #drainAbandoned(): Promise<void> {
		const failed = new Map<AbandonedJournal, unknown>();
		for (const sink of ['toPostgres', 'toClickHouse'] as const) {
			for (const journal of this.#abandoned.filter((one) => !failed.has(one))) {
				await this.#drain(journal, sink).catch((error: unknown) => failed.set(journal, error));
			}
		}

		// Another process that started at the same time may have drained and removed it.
		this.#abandoned = [...failed.keys()].filter(({folder}) => existsSync(folder));
		const [first] = this.#abandoned;
		if (first !== undefined) {
			this.#options.log.warn({err: failed.get(first)}, 'some journals of dead processes could not be drained');
		}
	}

	async #drain({folder, cursors}: AbandonedJournal, sink: 'toPostgres' | 'toClickHouse'): Promise<void> {
		if (sink === 'toPostgres') {
			this.#options.log.info({journal: path.basename(folder)}, 'draining the journal of a dead process');
		}

		const cursor = cursors[sink];
		while (cursor !== null && !this.#isClosed && (await cursor.step()) !== null) {
			// Each step is one transaction.
		}

		if (sink === 'toClickHouse' && !this.#isClosed) {
			cursors.reportRest();
			await this.#remove(folder);
		}
	}

	/** Removes a drained journal. Its position has no effect if it stays. */
	async #remove(folder: string): Promise<void> {
		const {db, log} = this.#options;
		await rm(folder, {recursive: true, force: true});
		await db('click_journals')
			.where({id: path.basename(folder)})
			.delete()
			.catch((error: unknown) => log.debug({err: error}, 'journal'));
	}
}

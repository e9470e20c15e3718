import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Logger} from 'pino';
import type {Db} from '../../../platform/db/db.ts';
import {within} from '../../../platform/within.ts';
import type {JournalCursor, JournalCursors} from './journal-cursors.ts';
import {createJournalFolder, findLeft, type JournalFolder, journalRoot, removeFolder} from './journal-folder.ts';
import {forgetJournal} from './journal-position.ts';
import {isBefore} from './segments.ts';
import {createWriter} from './writer.ts';

const SYNC_MS = 1000;
/** How often failed work is tried again: to begin a journal, and to drain those that were left. */
const RETRY_MS = 10_000;
/** How long a start waits to drain what earlier processes left. */
const WAIT_MS = 5000;

/** A journal that is being written. */
export type Current = JournalFolder & {
	id: string;
	writer: ReturnType<typeof createWriter>;
	cursors: JournalCursors;
};

/** A dead process's journal. */
type Left = {folder: string; cursors: JournalCursors};

type Options = {
	db: Db;
	log: Logger;
	dataDir: string;
	cursorsOf: (folder: string) => JournalCursors;
	/** Called when no journal can be begun. */
	onFailure: (error: unknown) => void;
};

/** Manages the journal that a process writes, from beginning to end, and drains those that dead processes left. */
export const createJournalLife = ({db, log, dataDir, cursorsOf, onFailure}: Options) => {
	let root: string | null = null;
	let current: Current | null = null;
	let left: Left[] = [];
	let isClosed = false;
	let working: Promise<void> | null = null;
	let timers: NodeJS.Timeout[] = [];

	const beginIn = async (root: string): Promise<void> => {
		const {folder, unlock} = await createJournalFolder(root);
		current = {id: path.basename(folder), folder, writer: createWriter(folder), cursors: cursorsOf(folder), unlock};
	};

	/** Finds what dead processes left, and begins a journal. */
	const begin = async (): Promise<void> => {
		const found = await journalRoot(db, dataDir);
		await beginIn(found);
		root = found;
		left = (await findLeft(root)).map((folder) => ({folder, cursors: cursorsOf(folder)}));
	};

	/** Removes a drained journal. Its position is of no use to anybody, should it stay. */
	const remove = async (folder: string): Promise<void> => {
		await removeFolder(folder);
		await forgetJournal(db, path.basename(folder)).catch((error: unknown) => log.debug({err: error}, 'journal'));
	};

	const drainAll = async ({step}: JournalCursor): Promise<void> => {
		while (!isClosed && (await step()) !== null) {
			// Each step is one transaction.
		}
	};

	const toPostgres = async ({folder, cursors}: Left): Promise<void> => {
		log.info({journal: path.basename(folder)}, 'draining the journal of a dead process');
		await drainAll(cursors.toPostgres);
	};

	const toClickHouse = async ({folder, cursors}: Left): Promise<void> => {
		if (cursors.toClickHouse !== null) {
			await drainAll(cursors.toClickHouse);
		}

		if (!isClosed) {
			cursors.reportRest();
			await remove(folder);
		}
	};

	/** Drains what was left. A journal that fails holds up no other, and ClickHouse nothing for PostgreSQL. Does not throw. */
	const drainLeft = async (): Promise<void> => {
		const failed = new Map<Left, unknown>();
		for (const drain of [toPostgres, toClickHouse]) {
			for (const journal of left.filter((one) => !failed.has(one))) {
				await drain(journal).catch((error: unknown) => failed.set(journal, error));
			}
		}

		// Another process that started at the same time may have drained and removed it.
		left = [...failed.keys()].filter(({folder}) => existsSync(folder));
		for (const {folder} of left.slice(0, 1)) {
			const error = [...failed].find(([journal]) => journal.folder === folder)?.[1];
			log.warn({err: error}, 'some journals of dead processes could not be drained');
		}
	};

	const beginAndDrain = async (): Promise<void> => {
		if (root === null) {
			await begin();
		}

		await drainLeft();
	};

	/** Shared while it runs, because a store that does not answer must not hold a connection for each try. */
	const work = (): Promise<void> => {
		working ??= beginAndDrain()
			.catch(onFailure)
			.finally(() => {
				working = null;
			});
		return working;
	};

	return {
		/** Null if there is no journal to write to. */
		current: (): Current | null => current,
		/** Begins a journal, and drains those that dead processes left. What fails is tried again. */
		start: async (): Promise<void> => {
			await within(WAIT_MS, work());
			const syncs = setInterval(() => current?.writer.sync(), SYNC_MS);
			timers = [setInterval(() => void work(), RETRY_MS).unref(), syncs.unref()];
		},
		/** Switches to a new journal, because somebody has removed the files of this one. */
		replace: (journal: Current): void => {
			if (current === journal && root !== null) {
				current = null;
				log.error({journal: journal.id}, 'click journal files disappeared; starting a new click journal');
				journal.writer.close();
				journal.unlock();
				beginIn(root).catch(onFailure);
			}
		},
		/** Ends the maintenance. Waits some seconds for what was left to be drained. */
		finish: async (): Promise<void> => {
			timers.forEach(clearInterval);
			await within(WAIT_MS, working ?? Promise.resolve());
			isClosed = true;
			await within(WAIT_MS, working ?? Promise.resolve());
		},
		/** Removes a journal whose writer is closed, or leaves undrained clicks to the next start. */
		leave: async (journal: Current): Promise<void> => {
			if (!isBefore(journal.cursors.position(), journal.writer.end())) {
				await remove(journal.folder);
			} else {
				log.warn({journal: journal.id}, 'clicks remain in the journal until the next start');
			}

			journal.unlock();
		},
	};
};

export type JournalLife = ReturnType<typeof createJournalLife>;

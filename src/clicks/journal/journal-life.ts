import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Logger} from 'pino';
import type {Db} from '../../db/db.ts';
import type {Drain, Drains} from './drains.ts';
import {claimFolder, findAbandoned, journalRoot, releaseFolder, removeFolder} from './journal-folder.ts';
import {forgetJournal} from './journal-position.ts';
import {isBefore} from './segments.ts';
import {createWriter} from './writer.ts';

/** Resolves when the work is done or the time is over. @throws the work's error if it fails in that time. */
export const within = (milliseconds: number, work: Promise<unknown>): Promise<unknown> => {
	let timer: NodeJS.Timeout | undefined;
	const bound = new Promise((resolve) => {
		timer = setTimeout(resolve, milliseconds);
	});
	return Promise.race([work, bound]).finally(() => clearTimeout(timer));
};

/** Runs one piece of work at a time; calls while it runs share it. */
const shared = (work: () => Promise<void>): (() => Promise<void>) => {
	let running: Promise<void> | null = null;
	return () => {
		running ??= work().finally(() => {
			running = null;
		});
		return running;
	};
};

const SYNC_MS = 1000;
const CLAIM_MS = 10_000;
/** After this long without a heartbeat, other processes may take this one for dead. It then begins a new journal. */
const OVERDUE_MS = 30_000;
/** How long a start waits to drain what earlier processes left. */
const WAIT_MS = 5000;

/** A journal that is being written. */
export type Current = {
	id: string;
	folder: string;
	writer: ReturnType<typeof createWriter>;
	drains: Drains;
	/** When its last heartbeat began. */
	claimedAt: number;
};

/** A dead process's journal. */
type Left = {folder: string; drains: Drains};

type Options = {
	db: Db;
	log: Logger;
	dataDir: string;
	drainsOf: (folder: string) => Drains;
	/** Called when no journal can be begun. */
	onFailure: (error: unknown) => void;
};

/** Manages the journal that a process writes, from beginning to end, and adopts those of dead processes. */
export const createJournalLife = ({db, log, dataDir, drainsOf, onFailure}: Options) => {
	let root: string | null = null;
	let current: Current | null = null;
	let isClosed = false;
	let timers: NodeJS.Timeout[] = [];

	const begin = shared(async () => {
		root ??= await journalRoot(db, dataDir);
		const id = randomUUID();
		const folder = path.join(root, id);
		const claimedAt = performance.now();
		await claimFolder(folder);
		current = {
			id,
			folder,
			writer: createWriter(folder),
			drains: drainsOf(folder),
			claimedAt,
		};
	});

	const drainAll = async ({step}: Drain): Promise<void> => {
		while (!isClosed && (await step()) !== null) {
			// Each step is one transaction.
		}
	};

	const drainTables = async ({folder, drains}: Left): Promise<void> => {
		log.info({journal: path.basename(folder)}, 'draining the journal of a dead process');
		await drainAll(drains.tables);
	};

	const drainRest = async ({folder, drains}: Left): Promise<void> => {
		// What a process that was only paused wrote since goes to the tables, too.
		await drainAll(drains.tables);
		if (drains.store !== null) {
			await drainAll(drains.store);
		}

		if (!isClosed) {
			drains.reportRest();
			await removeFolder(folder);
			await forgetJournal(db, path.basename(folder));
		}
	};

	/**
	 * Drains the journals of dead processes. One that fails holds up no other, and a store that is away no tables.
	 * @throws the first error, after all have been tried.
	 */
	const adoptAll = async (): Promise<void> => {
		const mine = current;
		if (mine === null) {
			return;
		}

		const abandoned = await findAbandoned(mine.folder);
		const left = new Set<Left>(abandoned.map((folder) => ({folder, drains: drainsOf(folder)})));
		const failures: unknown[] = [];
		for (const drain of [drainTables, drainRest]) {
			for (const journal of left) {
				try {
					await drain(journal);
				} catch (error) {
					left.delete(journal);
					// Another process may have drained and removed it meanwhile.
					if (existsSync(journal.folder)) {
						failures.push(error);
					}
				}
			}
		}

		if (failures.length > 0) {
			throw failures[0];
		}
	};

	/** Shared, because a store that does not answer must not hold a connection for each look. Does not throw. */
	const adopt = shared(() =>
		adoptAll().catch((error: unknown) =>
			log.warn({err: error}, 'some journals of dead processes could not be drained'),
		),
	);

	const giveUp = (journal: Current, reason: Error): void => {
		if (current === journal) {
			current = null;
			log.error({err: reason, journal: journal.id}, 'starting a new click journal');
			journal.writer.close();
			releaseFolder(journal.folder);
			begin().catch(onFailure);
		}
	};

	const trusted = (): Current | null => {
		if (current !== null && performance.now() - current.claimedAt > OVERDUE_MS) {
			giveUp(current, new Error('this process was paused'));
		}

		return current;
	};

	const claim = async (): Promise<void> => {
		// A heartbeat after a pause would only bring back a folder that others have drained and removed.
		const mine = trusted();
		if (mine === null) {
			await begin();
		} else {
			// A pause may be in the middle of the heartbeat, too.
			const at = performance.now();
			await claimFolder(mine.folder);
			mine.claimedAt = at;
		}

		await adopt();
	};

	return {
		/** Null if there is no journal to write to. */
		current: (): Current | null => current,
		/** The same for a write. A journal that others may have taken for a dead process's is given up. */
		trusted,
		/** Begins a journal, adopts abandoned ones, and keeps maintaining both. */
		start: async (): Promise<void> => {
			await begin().catch(onFailure);
			await within(WAIT_MS, adopt());

			const claims = setInterval(() => {
				claim().catch((error: unknown) => log.warn({err: error}, 'could not claim the click journal'));
			}, CLAIM_MS);
			const syncs = setInterval(() => current?.writer.sync(), SYNC_MS);
			timers = [claims.unref(), syncs.unref()];
		},
		/** Switches to a new journal. The rest of the old one is drained like that of a dead process. */
		giveUp,
		/** Stops the maintenance. */
		stopLooking: (): void => timers.forEach(clearInterval),
		/** Stops an adoption that is under way. */
		stopAdopting: (): void => {
			isClosed = true;
		},
		/** Releases a journal whose writer is closed: removes it, or leaves undrained clicks to the next start. */
		leave: async (journal: Current): Promise<void> => {
			if (!isBefore(journal.drains.position(), journal.writer.end())) {
				await removeFolder(journal.folder);
				await forgetJournal(db, journal.id).catch((error: unknown) => log.debug({err: error}, 'journal'));
			} else {
				log.warn({journal: journal.id}, 'clicks remain in the journal until the next start');
			}

			releaseFolder(journal.folder);
		},
	};
};

export type JournalLife = ReturnType<typeof createJournalLife>;

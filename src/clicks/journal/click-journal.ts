import {randomUUID} from 'node:crypto';
import path from 'node:path';
import type {Logger} from 'pino';
import type {Clock} from '../../clock.ts';
import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {Click} from '../record-click.ts';
import {createDirectWriter} from './direct-writer.ts';
import {createDrain, type Drain} from './drain.ts';
import {clickId, encodeEntry} from './entry.ts';
import {forgetJournal, type OnRefused, type Position} from './entry-store.ts';
import {claimFolder, findAbandoned, journalRoot, releaseFolder, removeFolder} from './journal-folder.ts';
import {mentionsOf} from './segments.ts';
import {createWriter, type Writer} from './writer.ts';

/** How long clicks wait for others to be drained with: well below what other processes may have to wait to see them. */
const DRAIN_MS = 40;
const RETRY_MS = 500;
const SYNC_MS = 1000;
const CLAIM_MS = 10_000;
/** A process that could not say for so long that it lives may have been taken for dead, and begins a new journal. */
const OVERDUE_MS = 30_000;
/** How long a start waits for what earlier processes left, and a stop for what this one leaves. */
const WAIT_MS = 5000;

/** Where clicks go first (docs/click-journal.md). */
export type ClickJournal = {
	/**
	 * Keeps a click: when this resolves with true it survives the death of the process, and will be in the tables once.
	 * False: nothing could keep it, which is logged and counted.
	 */
	record(click: Click): Promise<boolean>;
	/**
	 * Resolves when the clicks that were kept here before and mention one of the texts (an id, a hash in hexadecimal)
	 * can be read from the tables; all of them where no text is given.
	 */
	settled(...mentioned: string[]): Promise<void>;
	/** Begins the files, and drains what earlier processes left behind. Before it clicks go straight to the database. */
	start(): Promise<void>;
	figures(): JournalFigures;
	/** Drains what is there; what cannot be is left to the next start. */
	close(): Promise<void>;
};

/** What an operator may want to know: what waits, what nothing could keep, and what the database refused for good. */
export type JournalFigures = {waitingBytes: number; lost: number; refused: number};

type Given = {
	db: Db;
	clock: Clock;
	log: Logger;
	clickPartitions: ClickPartitions;
	dataDir: string;
	maxBytes: number;
};

/** A journal that is being written. */
type Current = {id: string; folder: string; writer: Writer; drain: Drain; claimedAt: number};

const isBefore = (one: Position, other: Position): boolean =>
	one.segment < other.segment || (one.segment === other.segment && one.position < other.position);

const within = (milliseconds: number, work: Promise<unknown>): Promise<unknown> => {
	let timer: NodeJS.Timeout | undefined;
	const bound = new Promise((resolve) => {
		timer = setTimeout(resolve, milliseconds);
	});
	return Promise.race([work, bound]).finally(() => clearTimeout(timer));
};

export const createClickJournal = (given: Given): ClickJournal => {
	const {db, clock, log, clickPartitions, dataDir, maxBytes} = given;
	let root: string | null = null;
	let current: Current | null = null;
	let draining: Promise<void> | null = null;
	let drainTimer: NodeJS.Timeout | null = null;
	let isClosed = false;
	let isDatabaseAway = false;
	let isFailing = false;
	let timers: NodeJS.Timeout[] = [];
	const figures = {lost: 0, refused: 0};

	const onRefused: OnRefused = (entry, error) => {
		figures.refused += 1;
		log.error({err: error, click: clickId(entry)}, 'a click was refused and is left out');
	};

	const withoutJournal = createDirectWriter({db, clickPartitions, onRefused});

	const drainOf = (folder: string): Drain =>
		createDrain({
			db,
			clickPartitions,
			folder,
			journal: path.basename(folder),
			onRefused,
		});

	const begin = async (): Promise<void> => {
		root ??= await journalRoot(db, dataDir);
		const id = randomUUID();
		const folder = path.join(root, id);
		await claimFolder(folder);
		current = {
			id,
			folder,
			writer: createWriter(folder),
			drain: drainOf(folder),
			claimedAt: performance.now(),
		};
	};

	/** Goes on with another journal. What is left of this one is drained as that of a dead process. */
	const giveUp = (journal: Current, reason: Error): void => {
		if (current === journal) {
			current = null;
			log.error({err: reason, journal: journal.id}, 'a new click journal is begun');
			journal.writer.close();
			releaseFolder(journal.folder);
			begin().catch(fail);
		}
	};

	/** Brings what was written until now into the tables. */
	const drainOnce = async (journal: Current): Promise<void> => {
		const end = journal.writer.end();
		try {
			while (isBefore(journal.drain.position(), end) && !isClosed) {
				if (!(await journal.drain.step())) {
					giveUp(journal, new Error('files of the click journal are gone'));
					return;
				}
			}

			if (isDatabaseAway) {
				isDatabaseAway = false;
				log.info('clicks reach the database again');
			}
		} catch (error) {
			if (!isDatabaseAway) {
				isDatabaseAway = true;
				log.warn({err: error}, 'clicks wait in the journal until they can be written to the database');
			}

			throw error;
		}
	};

	const drain = (): Promise<void> => {
		const journal = current;
		if (journal === null) {
			return Promise.resolve();
		}

		if (drainTimer !== null) {
			clearTimeout(drainTimer);
			drainTimer = null;
		}

		draining ??= drainOnce(journal).finally(() => {
			draining = null;
			if (isBefore(journal.drain.position(), journal.writer.end())) {
				schedule(isDatabaseAway ? RETRY_MS : DRAIN_MS);
			}
		});
		return draining;
	};

	function schedule(milliseconds: number): void {
		if (drainTimer === null && draining === null && !isClosed) {
			drainTimer = setTimeout(() => {
				drainTimer = null;
				// A failure is logged, and is tried again.
				drain().catch(() => {});
			}, milliseconds);
			drainTimer.unref();
		}
	}

	/** Drains what processes left that are gone. */
	const adopt = async (): Promise<void> => {
		const mine = current;
		if (mine === null) {
			return;
		}

		for (const folder of await findAbandoned(mine.folder)) {
			log.info({journal: path.basename(folder)}, 'draining a journal whose process is gone');
			const abandoned = drainOf(folder);
			while (!isClosed && (await abandoned.step())) {
				// Each step is one transaction.
			}

			if (!isClosed) {
				await removeFolder(folder);
				await forgetJournal(db, path.basename(folder));
			}
		}
	};

	const claim = async (): Promise<void> => {
		if (current === null) {
			await begin();
		}

		if (current !== null) {
			await claimFolder(current.folder);
			current.claimedAt = performance.now();
			await adopt();
		}
	};

	function fail(error: unknown): void {
		if (!isFailing) {
			isFailing = true;
			log.error({err: error}, 'the click journal cannot be written; clicks go straight to the database');
		}
	}

	const keep = async (journal: Current, lines: string): Promise<void> => {
		await journal.writer.append(lines);
		isFailing = false;
		schedule(DRAIN_MS);
	};

	/** The journal to write to; null where there is none to be trusted, or it is as long as it may be. */
	const writable = (): Current | null => {
		if (current === null) {
			return null;
		}

		if (performance.now() - current.claimedAt > OVERDUE_MS) {
			giveUp(current, new Error('this process stood still'));
			return null;
		}

		const {writer, drain} = current;
		return writer.bytesAfter(drain.position()) < maxBytes ? current : null;
	};

	return {
		record: async (click) => {
			const [id, at] = [randomUUID(), clock.now()];
			const lines = encodeEntry(click, {id, at});
			const journal = writable();
			if (journal !== null) {
				try {
					await keep(journal, lines);
					return true;
				} catch (error) {
					fail(error);
				}
			}

			try {
				if (isDatabaseAway) {
					throw new Error('the journal cannot take more clicks, and the database is away');
				}

				await withoutJournal(lines);
				return true;
			} catch (error) {
				figures.lost += 1;
				log.error({err: error, lost: figures.lost}, 'a click is lost');
				return false;
			}
		},
		settled: async (...mentioned) => {
			const journal = current;
			if (journal === null) {
				return;
			}

			const end = journal.writer.end();
			if (
				!isBefore(journal.drain.position(), end) ||
				(mentioned.length > 0 && !mentionsOf(journal.folder, journal.drain.position(), mentioned))
			) {
				return;
			}

			while (isBefore(journal.drain.position(), end) && current === journal) {
				// One that is under way may have begun before the click.
				await drain();
			}
		},
		start: async () => {
			try {
				await begin();
				await within(WAIT_MS, adopt());
			} catch (error) {
				fail(error);
			}

			const claims = setInterval(() => {
				claim().catch((error: unknown) => log.warn({err: error}, 'could not look after the click journals'));
			}, CLAIM_MS);
			const syncs = setInterval(() => current?.writer.sync(), SYNC_MS);
			timers = [claims.unref(), syncs.unref()];
		},
		figures: () => ({
			waitingBytes: current === null ? 0 : current.writer.bytesAfter(current.drain.position()),
			...figures,
		}),
		close: async () => {
			timers.forEach(clearInterval);
			const journal = current;
			if (journal === null) {
				return;
			}

			journal.writer.close();
			const isDrained = () => !isBefore(journal.drain.position(), journal.writer.end());
			const rest = async (): Promise<void> => {
				while (!isDrained() && !isClosed && current === journal) {
					await drain();
				}
			};
			await within(
				WAIT_MS,
				rest().catch(() => {}),
			);
			isClosed = true;
			if (drainTimer !== null) {
				clearTimeout(drainTimer);
			}

			// The transaction that is under way, before its connection is taken away.
			await within(WAIT_MS, draining?.catch(() => {}) ?? Promise.resolve());
			if (isDrained()) {
				await removeFolder(journal.folder);
				await forgetJournal(db, journal.id).catch((error: unknown) => log.debug({err: error}, 'journal'));
			} else {
				log.warn({journal: journal.id}, 'clicks stay in the journal for the next start');
			}

			releaseFolder(journal.folder);
		},
	};
};

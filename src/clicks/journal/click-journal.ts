import path from 'node:path';
import type {Logger} from 'pino';
import type {Clock} from '../../clock.ts';
import type {Db} from '../../db/db.ts';
import type {Click} from '../click.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import {createDamageKeeper} from './damaged.ts';
import {createDirectWriter} from './direct-writer.ts';
import {createDrain} from './drain.ts';
import {createDraining, isDrained} from './draining.ts';
import {type Entry, encodeEntry} from './entry.ts';
import type {OnRefused} from './entry-store.ts';
import {type Current, createJournalLife} from './journal-life.ts';

/** After this long without a heartbeat, other processes may take this one for dead. It then begins a new journal. */
const OVERDUE_MS = 30_000;

/** The write-ahead journal of clicks (docs/click-journal.md). */
export type ClickJournal = {
	/**
	 * Stores a click. True: it survives the death of the process and will be written to the tables once. False: nothing
	 * could store it; losses are counted and logged when they begin and end.
	 */
	record(click: Click): Promise<boolean>;
	/**
	 * Resolves when the earlier clicks of this machine that mention one of the texts (an id, a hexadecimal hash) are in
	 * the tables; without texts, all clicks.
	 */
	settled(...mentioned: string[]): Promise<void>;
	/** The same, without the clicks that other processes of this machine keep. */
	settledHere(mentioned: string[]): Promise<void>;
	/** Begins the files and drains what earlier processes left. Until then, clicks go directly to the database. */
	start(): Promise<void>;
	figures(): JournalFigures;
	/** Drains the rest. What cannot be drained is left to the next start. */
	close(): Promise<void>;
};

/** Metrics of this process. */
type JournalFigures = {
	waitingBytes: number;
	/** How long the oldest click has waited for the database, in seconds. */
	oldestSeconds: number;
	/** Clicks moved from the journal to the tables. */
	drained: number;
	/** Clicks written directly to the database, because no journal took them. */
	direct: number;
	/** Clicks lost. */
	lost: number;
	/** Clicks that the database rejected permanently. */
	refused: number;
};

type Given = {
	db: Db;
	clock: Clock;
	log: Logger;
	clickPartitions: ClickPartitions;
	dataDir: string;
	maxBytes: number;
	/** Waits for the other processes of this machine; null where this one is alone. */
	clicksOfOthers: ((mentioned: string[]) => Promise<void>) | null;
};

export const createClickJournal = (given: Given): ClickJournal => {
	const {db, clock, log, clickPartitions, dataDir, maxBytes, clicksOfOthers} = given;
	let isFailing = false;
	let isLosing = false;
	const figures = {direct: 0, lost: 0, refused: 0};

	const onRefused: OnRefused = (entry, error) => {
		figures.refused += 1;
		log.error({err: error, click: entry.id}, 'the database rejected a click; skipping it');
	};

	const fail = (error: unknown): void => {
		if (!isFailing) {
			isFailing = true;
			log.error({err: error}, 'cannot write the click journal; writing clicks directly to the database');
		}
	};

	const onDamage = createDamageKeeper(log);
	const withoutJournal = createDirectWriter({db, clickPartitions, onRefused});
	const life = createJournalLife({
		db,
		log,
		dataDir,
		drainOf: (folder) =>
			createDrain({db, clickPartitions, folder, journal: path.basename(folder), onRefused, onDamage}),
		onFailure: fail,
	});
	const draining = createDraining({life, log});

	const kept = (): void => {
		if (isLosing) {
			isLosing = false;
			log.warn({lost: figures.lost}, 'clicks are stored again');
		}
	};

	const keep = async (journal: Current, entry: Entry): Promise<void> => {
		journal.waiting.note(await journal.writer.append(entry));
		if (isFailing) {
			isFailing = false;
			log.info('the click journal is writable again');
		}

		kept();
		draining.soon();
	};

	/** The journal to write to; null if it cannot be trusted or is full. */
	const writable = (): Current | null => {
		const current = life.current();
		if (current === null) {
			return null;
		}

		if (performance.now() - current.claimedAt > OVERDUE_MS) {
			life.giveUp(current, new Error('this process was paused'));
			return null;
		}

		const {writer, drain} = current;
		return writer.bytesAfter(drain.position()) < maxBytes ? current : null;
	};

	return {
		record: async (click) => {
			const entry = encodeEntry(click, clock.now());
			const journal = writable();
			if (journal !== null) {
				try {
					await keep(journal, entry);
					return true;
				} catch (error) {
					fail(error);
				}
			}

			try {
				if (draining.isDatabaseAway()) {
					throw new Error('the journal cannot accept clicks, and the database is unavailable');
				}

				await withoutJournal(entry);
				figures.direct += 1;
				kept();
				return true;
			} catch (error) {
				figures.lost += 1;
				if (!isLosing) {
					isLosing = true;
					log.error({err: error}, 'clicks are lost: neither the journal nor the database accepts them');
				}

				return false;
			}
		},
		settled: async (...mentioned) => {
			await Promise.all([draining.settled(mentioned), clicksOfOthers?.(mentioned)]);
		},
		settledHere: (mentioned) => draining.settled(mentioned),
		start: () => life.start(),
		figures: () => {
			const current = life.current();
			return {
				waitingBytes: current === null ? 0 : current.writer.bytesAfter(current.drain.position()),
				oldestSeconds: current?.waiting.oldestSeconds() ?? 0,
				drained: draining.drained(),
				...figures,
			};
		},
		close: async () => {
			life.stopLooking();
			const journal = life.current();
			if (journal === null) {
				return;
			}

			journal.writer.close();
			await draining.finish(journal);
			await life.leave(journal, isDrained(journal));
		},
	};
};

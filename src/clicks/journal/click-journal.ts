import type {Logger} from 'pino';
import {createDamageKeeper} from './damaged.ts';
import {createDraining, intoStore, intoTables} from './draining.ts';
import {createDrains} from './drains.ts';
import {type Click, type Entry, encodeEntry} from './entry.ts';
import {createDirectWriter, type OnRefused, type Stores} from './entry-store.ts';
import {type Current, createJournalLife} from './journal-life.ts';

/** The write-ahead journal of clicks (docs/click-journal.md). Its files are below `DATA_DIR/journal`. */
export type ClickJournal = {
	/**
	 * Stores a click. Does not throw.
	 * @param at the time of the click. @param done is called once and must not throw: at the end of this turn of the event
	 * loop, or later if the click goes directly to the database. True: the click survives the death of the process and
	 * reaches the tables exactly once, unless PostgreSQL refuses its values or its organization is deleted first. False:
	 * it is lost, because neither the journal nor the stores accepted it; losses are counted, and logged when they begin
	 * and end.
	 */
	record(click: Click, at: Date, done: (isKept: boolean) => void): void;
	/**
	 * Resolves when the earlier clicks of this machine that mention one of the texts are in the tables; without texts, all
	 * clicks. Clicks of other machines are not waited for.
	 * @param mentioned ids (of a click, link or organization) or hexadecimal hashes (of an address or visitor).
	 * @throws the database's error if it is unavailable; 503 if a stop ended the drain before.
	 */
	settled(...mentioned: string[]): Promise<void>;
	/** `settled`, also for the rows of clicks in ClickHouse, if they are stored there. @throws 503 if it is unavailable. */
	settledInStore(...mentioned: string[]): Promise<void>;
	/** `settled` for the clicks of this process only. @param inStore waits for their rows in ClickHouse, too. */
	settledHere(mentioned: string[], inStore: boolean): Promise<void>;
	/** Whether rows wait in the journal because ClickHouse is unavailable. */
	isStoreAway(): boolean;
	/**
	 * Creates the journal's files, and waits at most 5 seconds until those of dead processes are drained. Until then,
	 * clicks go directly to the database. Does not throw: a failure is logged, and clicks still go to the database.
	 */
	start(): Promise<void>;
	figures(): JournalFigures;
	/** Drains the rest for some seconds. The next start drains what remains. */
	close(): Promise<void>;
};

/** Metrics of this process; the counts are since its start. `direct`: written to the database, because no journal took them. */
type JournalFigures = Record<
	'waitingBytes' | 'maxBytes' | 'oldestSeconds' | 'drained' | 'direct' | 'lost' | 'refused',
	number
>;

type Options = Omit<Stores, 'onRefused'> & {
	log: Logger;
	dataDir: string;
	maxBytes: number;
	/** Waits for the other processes of this machine; null where this one is alone. */
	clicksOfOthers: ((mentioned: string[], inStore: boolean) => Promise<void>) | null;
};

export const createClickJournal = (options: Options): ClickJournal => {
	const {db, log, clickPartitions, dataDir, maxBytes, clicksOfOthers, raw} = options;
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
	const stores = {db, clickPartitions, raw, onRefused};
	const withoutJournal = createDirectWriter(stores);
	const life = createJournalLife({
		db,
		log,
		dataDir,
		drainsOf: (folder) => createDrains(folder, {...stores, onDamage}),
		onFailure: fail,
	});
	const draining = createDraining({life, log}, intoTables);
	const storing = raw === null ? null : createDraining({life, log}, intoStore);

	const kept = (): void => {
		if (isLosing) {
			isLosing = false;
			log.warn({lost: figures.lost}, 'clicks are stored again');
		}
	};

	const succeed = (): void => {
		if (isFailing) {
			isFailing = false;
			log.info('the click journal is writable again');
		}

		kept();
		draining.soon();
		storing?.soon();
	};

	/** The journal to write to; null if it cannot be trusted or is full. */
	const writable = (): Current | null => {
		const current = life.trusted();
		if (current === null) {
			return null;
		}

		const {writer, drains} = current;
		return writer.bytesAfter(drains.position()) < maxBytes ? current : null;
	};

	const settledHere = async (mentioned: string[], inStore: boolean): Promise<void> => {
		await Promise.all([draining.settled(mentioned), inStore ? storing?.settled(mentioned) : null]);
	};

	const storeDirectly = async (entry: Entry): Promise<boolean> => {
		try {
			if (draining.isAway() || storing?.isAway()) {
				throw new Error('the journal cannot accept clicks, and the database or ClickHouse is unavailable');
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
	};

	return {
		record: (click, at, done) => {
			const entry = encodeEntry(click, at);
			const journal = writable();
			if (journal === null) {
				void storeDirectly(entry).then(done);
				return;
			}

			journal.writer.append(entry, (error) => {
				if (error === null) {
					succeed();
					done(true);
				} else {
					fail(error);
					void storeDirectly(entry).then(done);
				}
			});
		},
		settled: async (...mentioned) => {
			await Promise.all([draining.settled(mentioned), clicksOfOthers?.(mentioned, false)]);
		},
		settledInStore: async (...mentioned) => {
			await Promise.all([settledHere(mentioned, true), clicksOfOthers?.(mentioned, raw !== null)]);
		},
		settledHere,
		isStoreAway: () => storing?.isAway() ?? false,
		start: () => life.start(),
		figures: () => {
			const current = life.current();
			return {
				maxBytes,
				waitingBytes: current === null ? 0 : current.writer.bytesAfter(current.drains.position()),
				oldestSeconds: current?.writer.oldestSeconds() ?? 0,
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
			await Promise.all([draining.finish(journal), storing?.finish(journal)]);
			await life.leave(journal);
		},
	};
};

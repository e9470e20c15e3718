import type {Logger} from 'pino';
import {createDamageKeeper} from './damaged.ts';
import {createDrainScheduler, toClickHouse, toPostgres} from './drain-scheduler.ts';
import {type Click, type Entry, encodeEntry} from './entry.ts';
import {createDirectWriter, type OnRefused, type Stores} from './entry-store.ts';
import {createJournalCursors} from './journal-cursors.ts';
import {type Current, createJournalLife} from './journal-life.ts';
import type {Sink} from './journal-position.ts';

/**
 * The clicks to wait for. `mentioned`: only those that mention one of the texts, which are ids (of a click, link or
 * organization) or hexadecimal hashes (of an address or visitor); absent or empty: all. `sink`: until they are in
 * PostgreSQL, by default, or their rows in ClickHouse, too, if that is configured.
 */
export type Flush = {mentioned?: readonly string[]; sink?: Sink};

/** The write-ahead journal of clicks (docs/internals.md). Its files are below `DATA_DIR/journal`. */
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
	 * Resolves when the earlier clicks of this machine, by default, or of this process only are drained. Clicks of other
	 * machines are not waited for.
	 * @throws the database's error if it is unavailable; 503 if ClickHouse is, or if a stop ended the drain before.
	 */
	flushed(flush?: Flush & {scope?: 'machine' | 'process'}): Promise<void>;
	/** Whether rows wait in the journal because ClickHouse is unavailable. */
	isClickHouseDown(): boolean;
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
	otherProcesses: ((flush: Flush) => Promise<void>) | null;
};

export const createClickJournal = (options: Options): ClickJournal => {
	const {db, log, clickPartitions, dataDir, maxBytes, otherProcesses, clickHouse} = options;
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
	const stores = {db, clickPartitions, clickHouse, onRefused};
	const withoutJournal = createDirectWriter(stores);
	const life = createJournalLife({
		db,
		log,
		dataDir,
		cursorsOf: (folder) => createJournalCursors(folder, {...stores, onDamage}),
		onFailure: fail,
	});
	const postgresDrain = createDrainScheduler({life, log}, toPostgres);
	const clickHouseDrain = clickHouse === null ? null : createDrainScheduler({life, log}, toClickHouse);

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
		postgresDrain.soon();
		clickHouseDrain?.soon();
	};

	const waitingBytesOf = ({writer, cursors}: Current): number => writer.bytesAfter(cursors.position());

	/** The journal to write to; null if there is none or it is full. */
	const writable = (): Current | null => {
		const current = life.current();
		return current !== null && waitingBytesOf(current) < maxBytes ? current : null;
	};

	const storeDirectly = async (entry: Entry): Promise<boolean> => {
		try {
			if (postgresDrain.isDown() || clickHouseDrain?.isDown()) {
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
		flushed: async ({mentioned = [], sink = 'postgres', scope = 'machine'} = {}) => {
			await Promise.all([
				postgresDrain.flushed(mentioned),
				sink === 'clickHouse' ? clickHouseDrain?.flushed(mentioned) : null,
				scope === 'machine' ? otherProcesses?.({mentioned, sink}) : null,
			]);
		},
		isClickHouseDown: () => clickHouseDrain?.isDown() ?? false,
		start: () => life.start(),
		figures: () => {
			const current = life.current();
			return {
				maxBytes,
				waitingBytes: current === null ? 0 : waitingBytesOf(current),
				oldestSeconds: current?.writer.oldestSeconds() ?? 0,
				drained: postgresDrain.drained(),
				...figures,
			};
		},
		close: async () => {
			const journal = life.current();
			journal?.writer.close();
			await Promise.all([
				life.finish(),
				journal && postgresDrain.finish(journal),
				journal && clickHouseDrain?.finish(journal),
			]);
			if (journal !== null) {
				await life.leave(journal);
			}
		},
	};
};

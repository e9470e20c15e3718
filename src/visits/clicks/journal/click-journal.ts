import type {Logger} from 'pino';
import {Outage} from '../../../platform/outage.ts';
import {createDirectWriter, JournalCursors} from './cursors.ts';
import {Drain} from './drain.ts';
import {type Click, type Entry, encodeEntry} from './entry.ts';
import {createDamageKeeper} from './files.ts';
import {type CurrentJournal, JournalManager} from './life.ts';
import type {Sink, Stores} from './store.ts';

/**
 * The clicks to wait for. `containing`: only those that contain one of the texts, which are ids (of a click, link or
 * organization) or hexadecimal hashes (of an address or visitor); absent or empty: all. `sink`: where the
 * clicks must have arrived: PostgreSQL by default; ClickHouse, too, if it is named and configured.
 */
export type Flush = {containing?: readonly string[]; sink?: Sink};

/** The write-ahead journal of clicks (docs/internals.md). Its files are below `DATA_DIR/journal`. */
export type ClickJournal = {
	/**
	 * Stores a click. Does not throw.
	 * @param at the time of the click. @param done is called once, at the end of this turn of the event loop, or later if the
	 * click goes directly to the database; it must not throw. True: the click survives the death of the process and
	 * reaches the tables exactly once, unless PostgreSQL refuses its values or its organization is deleted first. False:
	 * it is lost, because neither the journal nor the stores accepted it; losses are counted, and logged when they begin
	 * and end.
	 */
	record(click: Click, at: Date, done: (isKept: boolean) => void): void;
	/**
	 * Resolves when the earlier clicks of this machine, by default, or of this process only are drained. Clicks of other
	 * machines are not waited for.
	 * @throws the database's error if it is unavailable; 503 if ClickHouse is unavailable, or if the server stops first.
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
	/** Drains the rest for some seconds. The next start drains the remaining clicks. */
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
	/** Waits for the other processes of this machine; null if this one is alone. */
	otherProcesses: ((flush: Flush) => Promise<void>) | null;
};

/** The journal in files. Clicks that it cannot take go directly to the database. */
export class FileJournal implements ClickJournal {
	readonly #options: Options;
	readonly #figures = {direct: 0, lost: 0, refused: 0};
	readonly #storeDirectly: (entry: Entry) => Promise<unknown>;
	readonly #life: JournalManager;
	readonly #toPostgres: Drain;
	readonly #toClickHouse: Drain | null;
	readonly #failing: Outage;
	readonly #losing: Outage;

	constructor(options: Options) {
		const {db, log, clickPartitions, dataDir, clickHouse} = options;
		this.#options = options;
		this.#failing = new Outage(log, {
			began: 'cannot write the click journal; writing clicks directly to the database',
			ended: 'the click journal is writable again',
			levels: {began: 'error', ended: 'info'},
		});
		this.#losing = new Outage(log, {
			began: 'clicks are lost: neither the journal nor the database accepts them',
			ended: 'clicks are stored again',
			levels: {began: 'error', ended: 'warn'},
		});
		const stores: Stores = {
			db,
			clickPartitions,
			clickHouse,
			onRefused: (entry, error) => {
				this.#figures.refused += 1;
				log.error({err: error, click: entry.id}, 'the database rejected a click; skipping it');
			},
		};
		const onDamage = createDamageKeeper(log);
		this.#storeDirectly = createDirectWriter(stores);
		this.#life = new JournalManager({
			db,
			log,
			dataDir,
			cursorsOf: (folder) => new JournalCursors(folder, {...stores, onDamage}),
			onFailure: (error) => this.#failing.begin(error),
		});
		this.#toPostgres = new Drain(this.#life, log, 'toPostgres');
		this.#toClickHouse = clickHouse && new Drain(this.#life, log, 'toClickHouse');
	}

	record(click: Click, at: Date, done: (isKept: boolean) => void): void {
		const entry = encodeEntry(click, at);
		const journal = this.#life.current;
		if (journal === null || this.#waitingBytesOf(journal) >= this.#options.maxBytes) {
			void this.#recordDirectly(entry).then(done);
			return;
		}

		journal.writer.append(entry, (error) => {
			if (error === null) {
				this.#failing.end();
				this.#losing.end({lost: this.#figures.lost});
				this.#toPostgres.schedule();
				this.#toClickHouse?.schedule();
				done(true);
			} else {
				this.#failing.begin(error);
				void this.#recordDirectly(entry).then(done);
			}
		});
	}

	async flushed({containing = [], sink = 'postgres', scope = 'machine'}: Parameters<ClickJournal['flushed']>[0] = {}) {
		await Promise.all([
			this.#toPostgres.flushed(containing),
			sink === 'clickHouse' ? this.#toClickHouse?.flushed(containing) : null,
			scope === 'machine' ? this.#options.otherProcesses?.({containing, sink}) : null,
		]);
	}

	isClickHouseDown(): boolean {
		return this.#toClickHouse?.isDown() ?? false;
	}

	start(): Promise<void> {
		return this.#life.start();
	}

	figures(): JournalFigures {
		const {current} = this.#life;
		return {
			maxBytes: this.#options.maxBytes,
			waitingBytes: current === null ? 0 : this.#waitingBytesOf(current),
			oldestSeconds: current?.writer.oldestSeconds() ?? 0,
			drained: this.#toPostgres.drained,
			...this.#figures,
		};
	}

	async close(): Promise<void> {
		const journal = this.#life.current;
		journal?.writer.close();
		await Promise.all([
			this.#life.finish(),
			journal && this.#toPostgres.finish(journal),
			journal && this.#toClickHouse?.finish(journal),
		]);
		if (journal !== null) {
			await this.#life.leave(journal);
		}
	}

	#waitingBytesOf({writer, cursors}: CurrentJournal): number {
		return writer.bytesAfter(cursors.position);
	}

	/** @returns whether the click is stored. */
	async #recordDirectly(entry: Entry): Promise<boolean> {
		try {
			if (this.#toPostgres.isDown() || this.#toClickHouse?.isDown()) {
				throw new Error('the journal cannot accept clicks, and the database or ClickHouse is unavailable');
			}

			await this.#storeDirectly(entry);
			this.#figures.direct += 1;
			this.#losing.end({lost: this.#figures.lost});
			return true;
		} catch (error) {
			this.#figures.lost += 1;
			this.#losing.begin(error);
			return false;
		}
	}
}

import type {Logger} from 'pino';
import {stopping} from '../../../platform/errors.ts';
import {Loop} from '../../../platform/loop.ts';
import {Outage} from '../../../platform/outage.ts';
import {within} from '../../../platform/within.ts';
import {isBefore, mentionsOf, type Position} from './files.ts';
import type {CurrentJournal, JournalManager} from './life.ts';

/** A drain of at most this number of clicks means little traffic. */
const LITTLE_TRAFFIC = 2;
const RETRY_MS = 500;
/** How long a stop waits for the drain. */
const WAIT_MS = 5000;

const destinations = {
	/** `waitMs` is well below the time within which other processes must see a click, also with little traffic. */
	toPostgres: {
		waitMs: 60,
		singleWaitMs: 20,
		began: 'the database is unavailable; clicks wait in the journal',
		ended: 'clicks reach the database again',
	},
	/** ClickHouse merges each batch: few large ones cost it least. A report drains at once instead of waiting. */
	toClickHouse: {
		waitMs: 500,
		singleWaitMs: 500,
		began: 'ClickHouse is unavailable; raw clicks wait in the journal',
		ended: 'raw clicks reach ClickHouse again',
	},
};

/** Drains this process's journal to one destination: soon after a click, and until all clicks are there. */
export class Drain {
	readonly #life: JournalManager;
	readonly #to: keyof typeof destinations;
	readonly #outage: Outage;
	readonly #loop = new Loop(() => this.#turn());
	/** The error of the last turn. */
	#failure: {error: unknown} | null = null;
	#isClosed = false;
	#drained = 0;
	#drainedLast = 0;

	constructor(life: JournalManager, log: Logger, to: keyof typeof destinations) {
		this.#life = life;
		this.#to = to;
		this.#outage = new Outage(log, destinations[to]);
	}

	/** Clicks that this process has moved. */
	get drained(): number {
		return this.#drained;
	}

	/** Schedules a drain. It includes the clicks written before it starts. */
	schedule(): void {
		const {waitMs, singleWaitMs} = destinations[this.#to];
		this.#loop.wake(this.#outage.isOpen ? RETRY_MS : this.#drainedLast > LITTLE_TRAFFIC ? waitMs : singleWaitMs);
	}

	/** Whether the last transaction failed and is being retried. Then direct writes would fail too. */
	isDown(): boolean {
		const journal = this.#life.current;
		// If nothing waits, no drain runs and the outage would never end, so it counts as up.
		return this.#outage.isOpen && journal !== null && !this.#isDrained(journal);
	}

	/**
	 * Resolves when the earlier clicks that mention one of the texts are drained; without texts, all clicks.
	 * @throws the error of a failed drain; 503 if the server stops first.
	 */
	async flushed(containing: readonly string[]): Promise<void> {
		const journal = this.#life.current;
		if (journal === null) {
			return;
		}

		const {end} = journal.writer;
		const position = this.#positionIn(journal);
		if (!isBefore(position, end) || (containing.length > 0 && !mentionsOf(journal.folder, position, containing))) {
			return;
		}

		while (isBefore(this.#positionIn(journal), end) && this.#life.current === journal) {
			// A closed drain moves nothing, and this loop would never yield.
			if (this.#isClosed) {
				throw stopping();
			}

			// A drain under way may have begun before the click was written.
			await this.#run();
		}
	}

	/** Drains the rest, for at most the time a stop may take, then closes. */
	async finish(journal: CurrentJournal): Promise<void> {
		const rest = async (): Promise<void> => {
			while (!this.#isDrained(journal) && !this.#isClosed && this.#life.current === journal) {
				await this.#run();
			}
		};
		await within(
			WAIT_MS,
			rest().catch(() => {}),
		);
		this.#isClosed = true;
		// Let the current transaction finish before its connection closes.
		await within(WAIT_MS, this.#loop.stop());
	}

	#positionIn({cursors}: CurrentJournal): Position {
		return (cursors[this.#to] ?? cursors).position;
	}

	#isDrained(journal: CurrentJournal): boolean {
		return !isBefore(this.#positionIn(journal), journal.writer.end);
	}

	/** Drains now. @throws the error of a failed drain. */
	async #run(): Promise<void> {
		await this.#loop.run();
		if (this.#failure !== null) {
			throw this.#failure.error;
		}
	}

	/** Drains the clicks written until now. */
	async #turn(): Promise<number | null> {
		const journal = this.#life.current;
		this.#failure = null;
		if (journal === null) {
			return null;
		}

		try {
			await this.#move(journal);
		} catch (error) {
			this.#failure = {error};
			this.#outage.begin(error);
			return RETRY_MS;
		}

		return this.#isDrained(journal) ? null : destinations[this.#to].waitMs;
	}

	async #move(journal: CurrentJournal): Promise<void> {
		const {writer, cursors} = journal;
		const {end} = writer;
		const cursor = cursors[this.#to];
		while (cursor !== null && isBefore(cursor.position, end) && !this.#isClosed) {
			const moved = await cursor.step();
			// Nothing to read before the end: the files were removed.
			if (moved === null) {
				this.#life.replace(journal);
				return;
			}

			this.#drainedLast = moved;
			this.#drained += moved;
			writer.drainedTo(cursors.position);
		}

		this.#outage.end();
	}
}

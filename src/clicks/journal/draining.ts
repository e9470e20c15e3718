import type {Logger} from 'pino';
import {type Current, type JournalLife, within} from './journal-life.ts';
import {mentionsOf} from './segments.ts';
import {isBefore} from './waiting-clicks.ts';

/** How long clicks wait to be drained together, well below the time other processes may wait to see them. */
const DRAIN_MS = 60;
/** The same with little traffic: the previous drain moved at most `FEW` clicks. */
const SINGLE_DRAIN_MS = 20;
const FEW = 2;
const RETRY_MS = 500;
/** How long a stop waits for the drain. */
const WAIT_MS = 5000;

/** Schedules the drain of this process's journal. */
type Draining = {
	/** Schedules a drain soon, and retries until all clicks are in the tables. */
	soon(): void;
	/** Whether the last transaction failed and is being retried. Then direct writes would fail too. */
	isDatabaseAway(): boolean;
	/** Resolves when the earlier clicks that mention one of the texts are in the tables; without texts, all clicks. */
	settled(mentioned: string[]): Promise<void>;
	/** Clicks of this process that reached the tables. */
	drained(): number;
	/** Drains the rest, for at most the time a stop may take, then closes. */
	finish(journal: Current): Promise<void>;
};

/** Whether a journal is completely in the tables. */
export const isDrained = ({drain, writer}: Current): boolean => !isBefore(drain.position(), writer.end());

export const createDraining = ({life, log}: {life: JournalLife; log: Logger}): Draining => {
	let draining: Promise<void> | null = null;
	let drainTimer: NodeJS.Timeout | null = null;
	let isClosed = false;
	let isDatabaseAway = false;
	let drained = 0;
	let drainedLast = 0;

	/** Drains the clicks written until now. */
	const drainOnce = async (journal: Current): Promise<void> => {
		const end = journal.writer.end();
		try {
			while (isBefore(journal.drain.position(), end) && !isClosed) {
				if (!(await journal.drain.step())) {
					life.giveUp(journal, new Error('click journal files disappeared'));
					return;
				}

				drainedLast = journal.waiting.drainedTo(journal.drain.position());
				drained += drainedLast;
			}

			if (isDatabaseAway) {
				isDatabaseAway = false;
				log.info('clicks reach the database again');
			}
		} catch (error) {
			if (!isDatabaseAway) {
				isDatabaseAway = true;
				log.warn({err: error}, 'the database is unavailable; clicks wait in the journal');
			}

			throw error;
		}
	};

	const drain = (): Promise<void> => {
		const journal = life.current();
		if (journal === null) {
			return Promise.resolve();
		}

		if (drainTimer !== null) {
			clearTimeout(drainTimer);
			drainTimer = null;
		}

		draining ??= drainOnce(journal).finally(() => {
			draining = null;
			if (!isDrained(journal)) {
				schedule(isDatabaseAway ? RETRY_MS : DRAIN_MS);
			}
		});
		return draining;
	};

	function schedule(milliseconds: number): void {
		if (drainTimer === null && draining === null && !isClosed) {
			drainTimer = setTimeout(() => {
				drainTimer = null;
				// The failure is logged, and the drain is retried.
				drain().catch(() => {});
			}, milliseconds);
			drainTimer.unref();
		}
	}

	return {
		soon: () => schedule(drainedLast > FEW ? DRAIN_MS : SINGLE_DRAIN_MS),
		isDatabaseAway: () => {
			const journal = life.current();
			// With nothing waiting, no drain would notice that the database is back.
			return isDatabaseAway && journal !== null && !isDrained(journal);
		},
		settled: async (mentioned) => {
			const journal = life.current();
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

			while (isBefore(journal.drain.position(), end) && life.current() === journal) {
				// A drain under way may have begun before the click was written.
				await drain();
			}
		},
		drained: () => drained,
		finish: async (journal) => {
			const rest = async (): Promise<void> => {
				while (!isDrained(journal) && !isClosed && life.current() === journal) {
					await drain();
				}
			};
			await within(
				WAIT_MS,
				rest().catch(() => {}),
			);
			isClosed = true;
			life.stopAdopting();
			clearTimeout(drainTimer ?? undefined);

			// Let the current transaction finish before its connection closes.
			await within(WAIT_MS, draining?.catch(() => {}) ?? Promise.resolve());
		},
	};
};

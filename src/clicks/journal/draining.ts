import type {Logger} from 'pino';
import {stopping} from '../../errors.ts';
import type {Drain} from './drains.ts';
import {type Current, type JournalLife, within} from './journal-life.ts';
import {isBefore, mentionsOf, type Position} from './segments.ts';

const FEW = 2;
const RETRY_MS = 500;
/** How long a stop waits for the drain. */
const WAIT_MS = 5000;

/** One of a journal's drains, and what its log says. */
type Way = {
	drainOf: (journal: Current) => Drain | null;
	/** How long clicks wait to be drained together, well below the time other processes may wait to see them. */
	waitMs: number;
	/** The same with little traffic: the previous drain moved at most `FEW` clicks. */
	singleWaitMs: number;
	back: string;
	away: string;
};

export const intoTables: Way = {
	drainOf: ({drains}) => drains.tables,
	waitMs: 60,
	singleWaitMs: 20,
	back: 'clicks reach the database again',
	away: 'the database is unavailable; clicks wait in the journal',
};

/** ClickHouse merges what each batch brings: few large ones cost it least. A report drains at once. */
export const intoStore: Way = {
	drainOf: ({drains}) => drains.store,
	waitMs: 500,
	singleWaitMs: 500,
	back: 'raw clicks reach ClickHouse again',
	away: 'ClickHouse is unavailable; raw clicks wait in the journal',
};

/** Schedules a drain of this process's journal. */
export const createDraining = (
	{life, log}: {life: JournalLife; log: Logger},
	{drainOf, waitMs, singleWaitMs, back, away}: Way,
) => {
	const positionOf = (journal: Current): Position => (drainOf(journal) ?? journal.drains).position();
	const isThrough = (journal: Current): boolean => !isBefore(positionOf(journal), journal.writer.end());
	let draining: Promise<void> | null = null;
	let drainTimer: NodeJS.Timeout | null = null;
	let isClosed = false;
	let isAway = false;
	let drained = 0;
	let drainedLast = 0;

	/** Drains the clicks written until now. */
	const drainOnce = async (journal: Current): Promise<void> => {
		const end = journal.writer.end();
		try {
			const way = drainOf(journal);
			while (way !== null && isBefore(way.position(), end) && !isClosed) {
				const moved = await way.step();
				if (moved === null) {
					life.giveUp(journal, new Error('click journal files disappeared'));
					return;
				}

				drainedLast = moved;
				drained += moved;
				journal.writer.drainedTo(journal.drains.position());
			}

			if (isAway) {
				isAway = false;
				log.info(back);
			}
		} catch (error) {
			if (!isAway) {
				isAway = true;
				log.warn({err: error}, away);
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
			if (!isThrough(journal)) {
				schedule(isAway ? RETRY_MS : waitMs);
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
		/** Schedules a drain soon, and retries until all clicks are in the tables. */
		soon: (): void => schedule(drainedLast > FEW ? waitMs : singleWaitMs),
		/** Whether the last transaction failed and is being retried. Then direct writes would fail too. */
		isAway: (): boolean => {
			const journal = life.current();
			// With nothing waiting, no drain would notice that the database is back.
			return isAway && journal !== null && !isThrough(journal);
		},
		/**
		 * Resolves when the earlier clicks that mention one of the texts are in the tables; without texts, all clicks.
		 * @throws the error of a failed drain; 503 if a stop ended the drain before.
		 */
		settled: async (mentioned: string[]): Promise<void> => {
			const journal = life.current();
			if (journal === null) {
				return;
			}

			const end = journal.writer.end();
			if (isThrough(journal) || (mentioned.length > 0 && !mentionsOf(journal.folder, positionOf(journal), mentioned))) {
				return;
			}

			while (isBefore(positionOf(journal), end) && life.current() === journal) {
				// A closed drain moves nothing, and this loop would never yield.
				if (isClosed) {
					throw stopping();
				}

				// A drain under way may have begun before the click was written.
				await drain();
			}
		},
		/** Clicks that this process has moved. */
		drained: (): number => drained,
		/** Drains the rest, for at most the time a stop may take, then closes. */
		finish: async (journal: Current): Promise<void> => {
			const rest = async (): Promise<void> => {
				while (!isThrough(journal) && !isClosed && life.current() === journal) {
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

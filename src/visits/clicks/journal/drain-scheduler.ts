import type {Logger} from 'pino';
import {stopping} from '../../../platform/errors.ts';
import {within} from '../../../platform/within.ts';
import type {JournalCursor, JournalCursors} from './journal-cursors.ts';
import type {Current, JournalLife} from './journal-life.ts';
import {isBefore, mentionsOf} from './segments.ts';

const FEW = 2;
const RETRY_MS = 500;
/** How long a stop waits for the drain. */
const WAIT_MS = 5000;

/** A destination of clicks, and what the log says about it. */
type Destination = {
	cursorOf: (cursors: JournalCursors) => JournalCursor | null;
	/** How long clicks wait to be drained together, well below the time other processes may wait to see them. */
	waitMs: number;
	/** The same with little traffic: the previous drain moved at most `FEW` clicks. */
	singleWaitMs: number;
	up: string;
	down: string;
};

export const toPostgres: Destination = {
	cursorOf: (cursors) => cursors.toPostgres,
	waitMs: 60,
	singleWaitMs: 20,
	up: 'clicks reach the database again',
	down: 'the database is unavailable; clicks wait in the journal',
};

/** ClickHouse merges what each batch brings: few large ones cost it least. A report drains at once. */
export const toClickHouse: Destination = {
	cursorOf: (cursors) => cursors.toClickHouse,
	waitMs: 500,
	singleWaitMs: 500,
	up: 'raw clicks reach ClickHouse again',
	down: 'ClickHouse is unavailable; raw clicks wait in the journal',
};

/** Schedules the drain of this process's journal to one destination. */
export const createDrainScheduler = (
	{life, log}: {life: JournalLife; log: Logger},
	{cursorOf, waitMs, singleWaitMs, up, down}: Destination,
) => {
	const positionOf = ({cursors}: Current) => (cursorOf(cursors) ?? cursors).position();
	const isThrough = (journal: Current): boolean => !isBefore(positionOf(journal), journal.writer.end());
	let draining: Promise<void> | null = null;
	let drainTimer: NodeJS.Timeout | null = null;
	let isClosed = false;
	let isDown = false;
	let drained = 0;
	let drainedLast = 0;

	/** Drains the clicks written until now. */
	const drainOnce = async (journal: Current): Promise<void> => {
		const end = journal.writer.end();
		try {
			const cursor = cursorOf(journal.cursors);
			while (cursor !== null && isBefore(cursor.position(), end) && !isClosed) {
				const moved = await cursor.step();
				if (moved === null) {
					life.replace(journal);
					return;
				}

				drainedLast = moved;
				drained += moved;
				journal.writer.drainedTo(journal.cursors.position());
			}

			if (isDown) {
				isDown = false;
				log.info(up);
			}
		} catch (error) {
			if (!isDown) {
				isDown = true;
				log.warn({err: error}, down);
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
				schedule(isDown ? RETRY_MS : waitMs);
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
		/** Schedules a drain soon, and retries until all clicks are drained. */
		soon: (): void => schedule(drainedLast > FEW ? waitMs : singleWaitMs),
		/** Whether the last transaction failed and is being retried. Then direct writes would fail too. */
		isDown: (): boolean => {
			const journal = life.current();
			// With nothing waiting, no drain would notice that the database is up again.
			return isDown && journal !== null && !isThrough(journal);
		},
		/**
		 * Resolves when the earlier clicks that mention one of the texts are drained; without texts, all clicks.
		 * @throws the error of a failed drain; 503 if a stop ended the drain before.
		 */
		flushed: async (mentioned: readonly string[]): Promise<void> => {
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
			clearTimeout(drainTimer ?? undefined);

			// Let the current transaction finish before its connection closes.
			await within(WAIT_MS, draining?.catch(() => {}) ?? Promise.resolve());
		},
	};
};

import type {Logger} from 'pino';
import type {Current, JournalLife} from './journal-life.ts';
import {mentionsOf} from './segments.ts';
import {isBefore} from './waiting-clicks.ts';
import {within} from './within.ts';

/** How long clicks wait for others to be drained with: well below what other processes may have to wait to see them. */
const DRAIN_MS = 60;
/** The same where hardly any others come: the last time no more than so many did. */
const SINGLE_DRAIN_MS = 20;
const FEW = 2;
const RETRY_MS = 500;
/** How long a stop waits for what this process leaves. */
const WAIT_MS = 5000;

/** When the journal of this process is drained. */
export type Draining = {
	/** Has what was written drained before long, and again until it is in the tables. */
	soon(): void;
	/** Whether the last transaction failed and is tried again: then no click can be written without the journal either. */
	isDatabaseAway(): boolean;
	/** Resolves when what was written before and mentions one of the texts is in the tables; all where none is given. */
	settled(mentioned: string[]): Promise<void>;
	/** Clicks of this process that came into the tables. */
	drained(): number;
	/** Drains what is there, for as long as a stop may take, and then no more. */
	finish(journal: Current): Promise<void>;
};

/** Whether the tables have all of a journal. */
export const isDrained = ({drain, writer}: Current): boolean => !isBefore(drain.position(), writer.end());

export const createDraining = ({life, log}: {life: JournalLife; log: Logger}): Draining => {
	let draining: Promise<void> | null = null;
	let drainTimer: NodeJS.Timeout | null = null;
	let isClosed = false;
	let isDatabaseAway = false;
	let drained = 0;
	let drainedLast = 0;

	/** Brings what was written until now into the tables. */
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
				// A failure is logged, and is tried again.
				drain().catch(() => {});
			}, milliseconds);
			drainTimer.unref();
		}
	}

	return {
		soon: () => schedule(drainedLast > FEW ? DRAIN_MS : SINGLE_DRAIN_MS),
		isDatabaseAway: () => {
			const journal = life.current();
			// Where nothing waits nobody would find out that it is back.
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
				// One that is under way may have begun before the click.
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

			// The transaction that is under way, before its connection is taken away.
			await within(WAIT_MS, draining?.catch(() => {}) ?? Promise.resolve());
		},
	};
};

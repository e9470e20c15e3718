import type {Clock} from '../clock.ts';
import type {Limiter} from './limiter.ts';
import {freeOf, type Limit} from './limits.ts';
import {createSubjects} from './subjects.ts';

/**
 * For how many windows a subject stays closed. The keeper decides in the first of them and closes again after it, so
 * nothing is free within two windows of a decision: in one of them Redis still counts the process as asking, the other
 * is a margin.
 */
const CLOSED_WINDOWS = 4;

/** Windows after its start in which a process admits nothing freely: other machines may not know it yet. */
const FIRST_WINDOWS = 2;

const MOST_DEPARTURES = 255;

/**
 * The requests that a process admits without asking the keeper: the first few of a subject in a window, because most
 * visitors make no more. When one makes more, the keeper closes the subject in every process and counts what each has admitted;
 * so no window ever has more than the limit.
 */
export const createFreeAdmissions = ({clock, processes}: {clock: Clock; processes: number}) => {
	// The times (milliseconds) of free admissions, the oldest first.
	const subjects = createSubjects({
		clock,
		windows: CLOSED_WINDOWS,
		make: (): {times: number[]; closedUntil: number} => ({times: [], closedUntil: Number.NEGATIVE_INFINITY}),
	});
	let opened = Number.POSITIVE_INFINITY;

	return {
		/** The keeper knows this process: it may admit. */
		open: (): void => {
			opened = subjects.now();
		},
		/** Whether the request is admitted; if not, the keeper decides. */
		take: (limit: Limit, subject: string): boolean => {
			const most = freeOf(limit, processes);
			const windowMs = limit.windowSeconds * 1000;
			const now = subjects.now();
			if (most === 0 || now < opened + FIRST_WINDOWS * windowMs) {
				return false;
			}

			const {times, closedUntil} = subjects.of(limit, subject, now);
			if (now < closedUntil) {
				return false;
			}

			if (times.length >= most) {
				if ((times[0] ?? 0) + windowMs > now) {
					return false;
				}

				times.shift();
			}

			times.push(now);
			return true;
		},
		/** Admits nothing more of the subject for some windows. @returns how many were admitted in the latest. */
		close: (limit: Limit, subject: string): number => {
			const windowMs = limit.windowSeconds * 1000;
			const now = subjects.now();
			const known = subjects.of(limit, subject, now);
			const recent = known.times.filter((time) => time + windowMs > now).length;
			known.times = [];
			known.closedUntil = now + CLOSED_WINDOWS * windowMs;
			return recent;
		},
	};
};

/** A process that admits some requests freely. */
export type Member = {
	/** Closes a subject. @returns how many were admitted freely in the latest window. */
	close(limit: Limit, subject: string): Promise<number> | number;
};

/** When members were last asked to close a subject, and the admissions they reported that are not counted yet. */
type Closing = {since: number; reported: number; underWay: Promise<unknown> | null};

/**
 * Decides for all processes of a machine. Before it decides about a subject that may be admitted freely, it closes the
 * subject in every process and counts their reports, and does so again each window: every request within a window of a
 * decision is counted.
 */
export const createKeeper = ({windows, clock, processes}: {windows: Limiter; clock: Clock; processes: number}) => {
	const members = new Set<Member>();
	const closings = createSubjects({
		clock,
		make: (): Closing => ({since: Number.NEGATIVE_INFINITY, reported: 0, underWay: null}),
	});
	let departures: number[] = [];

	const closeAll = async (limit: Limit, subject: string, closing: Closing, now: number): Promise<void> => {
		const windowMs = limit.windowSeconds * 1000;
		// A process that has ended cannot report what it admitted: assume the most.
		closing.reported += departures.filter((at) => at + windowMs > now).length * freeOf(limit, processes);
		for (const count of await Promise.all([...members].map((member) => member.close(limit, subject)))) {
			closing.reported += count;
		}
	};

	const takeClosed = async (limit: Limit, subject: string): Promise<number> => {
		const now = closings.now();
		const closing = closings.of(limit, subject, now);
		if (now - closing.since >= limit.windowSeconds * 1000) {
			closing.since = now;
			closing.underWay = closeAll(limit, subject, closing, now).finally(() => {
				closing.underWay = null;
			});
		}

		await closing.underWay;
		const {reported} = closing;
		closing.reported = 0;
		return windows.take(limit, subject, reported);
	};

	return {
		take: (limit: Limit, subject: string): Promise<number> | number =>
			limit.free === undefined ? windows.take(limit, subject) : takeClosed(limit, subject),
		join: (member: Member): void => {
			members.add(member);
			// Subjects were closed in those members only that were there.
			closings.clear();
		},
		leave: (member: Member): void => {
			if (members.delete(member)) {
				departures = [...departures.slice(-MOST_DEPARTURES), closings.now()];
			}
		},
	};
};

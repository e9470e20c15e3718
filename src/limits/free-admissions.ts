import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';
import {createRecentMap, type RecentMap} from './recent-map.ts';
import {createSteadyClock} from './steady-clock.ts';

/** The times (milliseconds) of what a subject was admitted freely, the oldest first. */
type Subject = {times: number[]; closedUntil: number};

/**
 * For how many windows a subject stays closed. The keeper decides in the first of them and closes again after it, so that
 * nothing is free within two windows of a decision: one in which Redis still counts the process as one that asks, and one more.
 */
const CLOSED_WINDOWS = 4;

/** A process that has just started may be unknown to those that decide for others. */
const FIRST_WINDOWS = 2;

const MOST_SUBJECTS = 200_000;

/** How many requests of a subject one of so many processes may admit freely in a window. */
export const freeOf = ({free = 0, max}: Limit, processes: number): number =>
	Math.min(free, Math.floor(max / processes));

/**
 * What a process admits without asking the keeper of the windows: the first few requests of a subject in a window, as
 * most visitors make no more. When one makes more, the keeper closes the subject in every process, and counts what each
 * has admitted; so no window ever has more than the limit.
 */
export const createFreeAdmissions = ({clock, processes}: {clock: Clock; processes: number}) => {
	const steady = createSteadyClock(clock);
	const tables = new Map<string, RecentMap<Subject>>();
	let opened = Number.POSITIVE_INFINITY;

	const tableOf = ({name, windowSeconds}: Limit): RecentMap<Subject> => {
		const known = tables.get(name);
		if (known) {
			return known;
		}

		const table = createRecentMap({
			lifeMs: CLOSED_WINDOWS * windowSeconds * 1000,
			most: MOST_SUBJECTS,
			make: (): Subject => ({times: [], closedUntil: Number.NEGATIVE_INFINITY}),
		});
		tables.set(name, table);
		return table;
	};

	return {
		/** The keeper knows of this process: it may admit. */
		open: (): void => {
			opened = steady.now().getTime();
		},
		/** Whether the request is admitted; if not, the keeper decides. */
		take: (limit: Limit, subject: string): boolean => {
			const most = freeOf(limit, processes);
			const windowMs = limit.windowSeconds * 1000;
			const now = steady.now().getTime();
			if (most === 0 || now < opened + FIRST_WINDOWS * windowMs) {
				return false;
			}

			const {times, closedUntil} = tableOf(limit).of(subject, now);
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
			const now = steady.now().getTime();
			const known = tableOf(limit).of(subject, now);
			const recent = known.times.filter((time) => time + windowMs > now).length;
			known.times = [];
			known.closedUntil = now + CLOSED_WINDOWS * windowMs;
			return recent;
		},
	};
};

import type {Clock} from '../clock.ts';
import {freeOf} from './free-admissions.ts';
import type {Limiter} from './limiter.ts';
import type {Limit} from './limits.ts';
import {createRecentMap, type RecentMap} from './recent-map.ts';
import {createSteadyClock} from './steady-clock.ts';

/** A process that admits some requests freely (`createFreeAdmissions`). */
export type Member = {
	/** Closes a subject. @returns how many were admitted freely in the latest window. */
	close(limit: Limit, subject: string): Promise<number> | number;
};

/** When members were last asked to close a subject, and what they reported and is not counted yet. */
type Closing = {since: number; reported: number; underWay: Promise<unknown> | null};

const MOST_SUBJECTS = 200_000;
const MOST_DEPARTURES = 255;

/**
 * The one who decides for all processes of a machine. Before it decides about a subject that may be admitted freely, it
 * closes the subject in every process and counts what they report, and does so again each window: whatever is within a
 * window of a decision is counted.
 */
export const createKeeper = ({windows, clock, processes}: {windows: Limiter; clock: Clock; processes: number}) => {
	const steady = createSteadyClock(clock);
	const members = new Set<Member>();
	const closings = new Map<string, RecentMap<Closing>>();
	let departures: number[] = [];

	const closingOf = ({name, windowSeconds}: Limit, subject: string, now: number): Closing => {
		const table =
			closings.get(name) ??
			createRecentMap({
				lifeMs: windowSeconds * 1000,
				most: MOST_SUBJECTS,
				make: (): Closing => ({since: Number.NEGATIVE_INFINITY, reported: 0, underWay: null}),
			});
		closings.set(name, table);
		return table.of(subject, now);
	};

	const closeAll = async (limit: Limit, subject: string, closing: Closing, now: number): Promise<void> => {
		const windowMs = limit.windowSeconds * 1000;
		// One that is gone cannot say any more what it admitted.
		closing.reported += departures.filter((at) => at + windowMs > now).length * freeOf(limit, processes);
		for (const count of await Promise.all([...members].map((member) => member.close(limit, subject)))) {
			closing.reported += count;
		}
	};

	const takeClosed = async (limit: Limit, subject: string): Promise<number> => {
		const now = steady.now().getTime();
		const closing = closingOf(limit, subject, now);
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
			// What is closed is closed to those alone that were there.
			closings.clear();
		},
		leave: (member: Member): void => {
			if (members.delete(member)) {
				departures = [...departures.slice(-MOST_DEPARTURES), steady.now().getTime()];
			}
		},
	};
};

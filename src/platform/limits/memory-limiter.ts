import type {Clock} from '../clock.ts';
import type {Limit} from '../config/limits.ts';

/**
 * The times of a limit's subjects, of two generations: the older one is dropped, which forgets idle subjects at least a
 * window after their last use, without a timer and without a search.
 */
type Generations = {current: Map<string, number[]>; previous: Map<string, number[]>; began: number};

/** New subjects of a limit that end a generation early: a flood of addresses takes bounded memory. */
const MAX_SUBJECTS = 200_000;

/** The index of the first of the ascending times that is later. */
const firstAfter = (times: readonly number[], time: number): number => {
	let [low, high] = [0, times.length];
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((times[middle] ?? 0) > time) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}

	return low;
};

/**
 * Windows in the memory of this process. Exact, without timers, and without a promise.
 * @param maxSubjects how many subjects of one limit are distinguished within a window; at most twice as many are held.
 */
export const createMemoryLimiter = ({clock, maxSubjects = MAX_SUBJECTS}: {clock: Clock; maxSubjects?: number}) => {
	const tables = new Map<string, Generations>();
	let latest = Number.NEGATIVE_INFINITY;
	let lead = 0;

	/**
	 * The time in milliseconds, which never runs backwards: if the clock is set back, it continues from the latest
	 * reading: logs keep their order and no caller waits longer than one window.
	 */
	const read = (): number => {
		const reading = clock.now().getTime();
		lead = Math.max(lead, latest - reading);
		latest = reading + lead;
		return latest;
	};

	const generationsOf = (limit: Limit, now: number): Generations => {
		const table = tables.get(limit.name) ?? {current: new Map(), previous: new Map(), began: Number.NEGATIVE_INFINITY};
		const lifeMs = limit.windowSeconds * 1000;
		const age = now - table.began;
		if (age >= lifeMs || table.current.size >= maxSubjects) {
			table.previous = age >= 2 * lifeMs ? new Map() : table.current;
			table.current = new Map();
			table.began = now;
			tables.set(limit.name, table);
		}

		return table;
	};

	/**
	 * The times (milliseconds) of the latest admitted requests of a subject, after expired ones: removing each as it
	 * expires would move all others each time. They begin with an expired time, because an array of one number takes a
	 * third of the memory of an array that grows from empty.
	 */
	const timesOf = (limit: Limit, subject: string, now: number): number[] => {
		const {current, previous} = generationsOf(limit, now);
		let times = current.get(subject);
		if (times === undefined) {
			times = previous.get(subject) ?? [Number.NEGATIVE_INFINITY];
			current.set(subject, times);
		}

		return times;
	};

	return {
		take: (limit: Limit, subject: string): number => {
			const now = read();
			const times = timesOf(limit, subject, now);
			const windowMs = limit.windowSeconds * 1000;
			let first = firstAfter(times, now - windowMs);
			if (first === times.length) {
				times.length = 1;
				times[0] = now;
				return 0;
			}

			if (first > times.length / 2) {
				times.splice(0, first);
				first = 0;
			}

			const oldest = times[first];
			if (oldest !== undefined && times.length - first === limit.max) {
				return Math.ceil((oldest + windowMs - now) / 1000);
			}

			times.push(now);
			return 0;
		},
		ping: async () => {},
		close: async () => tables.clear(),
	};
};

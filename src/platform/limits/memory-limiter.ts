import type {Clock} from '../clock.ts';
import type {Limit} from '../config/limits.ts';

type Generations<V> = {current: Map<string, V>; previous: Map<string, V>; began: number};

const MAX_SUBJECTS = 200_000;

/**
 * A value per limit and subject, created on first use and forgotten at least a window after its last use: of two
 * generations the older one is dropped. That frees idle subjects without a timer and without a search.
 * @param max new subjects of a limit that end a generation early: a flood of addresses takes bounded memory, and the
 * subjects that were silent for longest are forgotten.
 */
const createSubjects = <V>({
	clock,
	make,
	max = MAX_SUBJECTS,
}: {
	clock: Clock;
	make: () => V;
	max?: number | undefined;
}) => {
	const tables = new Map<string, Generations<V>>();
	let latest = Number.NEGATIVE_INFINITY;
	let lead = 0;

	const generationsOf = (limit: Limit, now: number): Generations<V> => {
		const table = tables.get(limit.name) ?? {current: new Map(), previous: new Map(), began: Number.NEGATIVE_INFINITY};
		const lifeMs = limit.windowSeconds * 1000;
		const age = now - table.began;
		if (age >= lifeMs || table.current.size >= max) {
			table.previous = age >= 2 * lifeMs ? new Map() : table.current;
			table.current = new Map();
			table.began = now;
			tables.set(limit.name, table);
		}

		return table;
	};

	return {
		/**
		 * The time in milliseconds, which never runs backwards: if the clock is set back, it continues from the latest
		 * reading: logs keep their order and no caller waits longer than one window.
		 */
		now: (): number => {
			const reading = clock.now().getTime();
			lead = Math.max(lead, latest - reading);
			latest = reading + lead;
			return latest;
		},
		/** The value at `now`, a result of `now()`. */
		of: (limit: Limit, subject: string, now: number): V => {
			const {current, previous} = generationsOf(limit, now);
			const known = current.get(subject);
			if (known !== undefined) {
				return known;
			}

			const value = previous.get(subject) ?? make();
			current.set(subject, value);
			return value;
		},
		clear: (): void => tables.clear(),
	};
};

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
export const createMemoryLimiter = ({clock, maxSubjects}: {clock: Clock; maxSubjects?: number}) => {
	// The times (milliseconds) of the latest admitted requests of a subject, after expired ones: removing each as it
	// expires would move all others each time. They begin with an expired time, because an array of one number takes a
	// third of the memory of an array that grows from empty.
	const subjects = createSubjects({clock, max: maxSubjects, make: () => [Number.NEGATIVE_INFINITY]});

	return {
		take: (limit: Limit, subject: string): number => {
			const now = subjects.now();
			const times = subjects.of(limit, subject, now);
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
		close: async () => subjects.clear(),
	};
};

import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';
import {createSubjects} from './subjects.ts';

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

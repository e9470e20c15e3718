import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';
import {createSubjects} from './subjects.ts';

/**
 * Windows in the memory of this process. Exact, without timers, and without a promise.
 * @param maxSubjects how many subjects of one limit are distinguished within a window; at most twice as many are held.
 */
export const createMemoryLimiter = ({clock, maxSubjects}: {clock: Clock; maxSubjects?: number}) => {
	// The times (milliseconds) of the latest admitted requests of a subject, at most `max`. They begin with one that counts
	// no longer, because an array of one number takes a third of one that an empty array grows to.
	const subjects = createSubjects({clock, most: maxSubjects, make: () => [Number.NEGATIVE_INFINITY]});

	return {
		take: (limit: Limit, subject: string, before = 0): number => {
			const now = subjects.now();
			const times = subjects.of(limit, subject, now);
			const windowMs = limit.windowSeconds * 1000;
			while (times[0] !== undefined && times[0] + windowMs <= now) {
				times.shift();
			}

			for (let counted = 0; counted < before; counted += 1) {
				times.push(now);
			}

			while (times.length > limit.max) {
				times.shift();
			}

			if (times[0] !== undefined && times.length === limit.max) {
				return Math.ceil((times[0] + windowMs - now) / 1000);
			}

			times.push(now);
			return 0;
		},
		ping: async () => {},
		close: async () => subjects.clear(),
	};
};

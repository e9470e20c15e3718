import type {Clock} from '../clock.ts';
import type {Limiter} from './limiter.ts';
import type {Limit} from './limits.ts';
import {createSubjects} from './subjects.ts';

/**
 * The times (milliseconds) of the latest admitted requests of one subject, as a ring: `head` is the oldest. Unused
 * slots hold -Infinity, a request that no longer counts.
 */
type AdmissionLog = {times: number[]; head: number};

const FIRST_SLOTS = 4;

/** The same log with more slots, the oldest first. */
const grown = ({times, head}: AdmissionLog, slots: number): AdmissionLog => ({
	times: [
		...new Array<number>(slots - times.length).fill(Number.NEGATIVE_INFINITY),
		...times.slice(head),
		...times.slice(0, head),
	],
	head: 0,
});

/** The milliseconds for which the oldest request of the log still counts; 0 or less: it no longer counts. */
const oldestCounts = ({times, head}: AdmissionLog, {windowSeconds}: Limit, now: number): number =>
	(times[head] ?? Number.NEGATIVE_INFINITY) + windowSeconds * 1000 - now;

const record = (log: AdmissionLog, limit: Limit, now: number): void => {
	if (log.times.length < limit.max && oldestCounts(log, limit, now) > 0) {
		Object.assign(log, grown(log, Math.min(log.times.length * 2, limit.max)));
	}

	log.times[log.head] = now;
	log.head = (log.head + 1) % log.times.length;
};

/**
 * Windows in the memory of this process. Exact, O(1) per decision (a log doubles at most a few times), without timers,
 * and without a promise.
 * @param maxSubjects how many subjects of one limit are distinguished within a window; at most twice as many are held.
 */
export const createMemoryLimiter = ({
	clock,
	maxSubjects,
}: {
	clock: Clock;
	maxSubjects?: number;
}): Limiter & {take(limit: Limit, subject: string, before?: number): number} => {
	const logs = createSubjects({
		clock,
		most: maxSubjects,
		make: ({max}): AdmissionLog => ({
			times: new Array<number>(Math.min(FIRST_SLOTS, max)).fill(Number.NEGATIVE_INFINITY),
			head: 0,
		}),
	});

	return {
		take: (limit, subject, before = 0) => {
			const now = logs.now();
			const log = logs.of(limit, subject, now);
			for (let counted = 0; counted < before; counted += 1) {
				record(log, limit, now);
			}

			const wait = log.times.length < limit.max ? 0 : oldestCounts(log, limit, now);
			if (wait > 0) {
				return Math.ceil(wait / 1000);
			}

			record(log, limit, now);
			return 0;
		},
		ping: async () => {},
		close: async () => logs.clear(),
	};
};

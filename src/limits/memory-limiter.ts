import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';
import type {Demand, SharedDemand} from './shared-demand.ts';
import type {Limiter} from './sliding-window.ts';
import {createSteadyClock} from './steady-clock.ts';

/**
 * The times (milliseconds) of the latest admitted requests of one subject, as a ring: `head` is the oldest. Slots not
 * used yet hold -Infinity, which is a request so long ago that it no longer counts.
 */
type AdmissionLog = Demand & {times: number[]; head: number};

/** The logs of one limit. What is in `previous` was not asked for since `current` began, at `began`. */
type Table = {current: Map<string, AdmissionLog>; previous: Map<string, AdmissionLog>; began: number};

const FIRST_SLOTS = 4;

/** The same log with more slots, the oldest first. */
const grown = ({times, head}: AdmissionLog, slots: number): Pick<AdmissionLog, 'times' | 'head'> => ({
	times: [
		...new Array<number>(slots - times.length).fill(Number.NEGATIVE_INFINITY),
		...times.slice(head),
		...times.slice(0, head),
	],
	head: 0,
});

/**
 * The log of `subject`, made where there is none. A table keeps two generations and drops the older one when a window
 * has passed since the last change: nothing in it was asked for during a whole window, so nothing in it still counts.
 * That frees idle subjects without a timer and without a search. `maxSubjects` new ones in one generation end it early:
 * under a flood of addresses the memory stays bounded, at the price of forgetting those that were silent longest.
 */
const logOf = (table: Table, subject: string, {max, windowSeconds}: Limit, now: number, maxSubjects: number) => {
	if (now - table.began >= windowSeconds * 1000 || table.current.size >= maxSubjects) {
		table.previous = now - table.began >= 2 * windowSeconds * 1000 ? new Map() : table.current;
		table.current = new Map();
		table.began = now;
	}

	const known = table.current.get(subject);
	if (known) {
		return known;
	}

	const slots = new Array<number>(Math.min(FIRST_SLOTS, max)).fill(Number.NEGATIVE_INFINITY);
	const log = table.previous.get(subject) ?? {times: slots, head: 0, current: 0, previous: 0, began: now};
	table.current.set(subject, log);
	return log;
};

/**
 * Admits a request at `now` and returns 0, or returns the milliseconds until one can be admitted.
 * @param share how many of the limit this process may admit.
 */
const admit = (log: AdmissionLog, {max, windowSeconds}: Limit, share: number, now: number): number => {
	const {length} = log.times;
	if (share < length) {
		const deciding = log.times[(log.head + length - share) % length] ?? Number.NEGATIVE_INFINITY;
		const sooner = deciding + windowSeconds * 1000 - now;
		if (sooner > 0) {
			return sooner;
		}
	}

	const wait = (log.times[log.head] ?? Number.NEGATIVE_INFINITY) + windowSeconds * 1000 - now;
	if (wait > 0) {
		if (log.times.length >= max) {
			return wait;
		}

		Object.assign(log, grown(log, Math.min(log.times.length * 2, max)));
	}

	log.times[log.head] = now;
	log.head = (log.head + 1) % log.times.length;
	return 0;
};

/**
 * A limiter of this process alone. Exact, O(1) per decision (a log doubles at most a few times), and without timers.
 * @param sharing gives this process its part of each limit; without it, each is all its own.
 * @param maxSubjects how many subjects of one limit are told apart within a window; at most twice as many are held.
 */
export const createMemoryLimiter = ({
	clock,
	maxSubjects = 200_000,
	sharing,
}: {
	clock: Clock;
	maxSubjects?: number;
	sharing?: SharedDemand;
}): Limiter => {
	const steady = createSteadyClock(clock);
	const tables = new Map<string, Table>();

	const tableOf = (limit: Limit, now: number): Table => {
		const known = tables.get(limit.name);
		if (known) {
			return known;
		}

		const table: Table = {current: new Map(), previous: new Map(), began: now};
		tables.set(limit.name, table);
		return table;
	};

	return {
		take: (limit, subject) => {
			const now = steady.now().getTime();
			const log = logOf(tableOf(limit, now), subject, limit, now, maxSubjects);
			const share = sharing?.share(limit, subject, log, now) ?? limit.max;
			return Math.ceil(admit(log, limit, share, now) / 1000);
		},
		ping: async () => {},
		close: async () => tables.clear(),
	};
};

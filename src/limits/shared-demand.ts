import {randomUUID} from 'node:crypto';
import type {Clock} from '../clock.ts';
import type {Limit} from './limits.ts';

/** What processes tell each other with: a message of one reaches all others soon, or not at all. */
export type Exchange = {
	say(message: string): void;
	onMessage(listener: (message: string) => void): void;
	close(): Promise<void>;
};

/** How often a process tells what it is asked for, and after which silence it counts as gone. */
export const TELL_MS = 50;
const SILENT_MS = 1000;

/** A subject that asks for less than this part of a limit is not told of: it costs others nothing that matters. */
const NEGLIGIBLE = 0.01;

/**
 * How often one subject asks, admitted or not: what came in this window so far, and in the one before, of which the part
 * counts that is less than a window ago.
 */
export type Demand = {current: number; previous: number; began: number};

/** By limit and subject. */
type Told = Record<string, Record<string, number>>;

/** How a limit is divided between the processes that a subject asks at the same time. */
export type SharedDemand = {
	/** Notes a request, and says how many of the subject this process may admit in a window, at least one. */
	share(limit: Limit, subject: string, demand: Demand, now: number): number;
	/** Tells the others. */
	tell(): void;
	close(): Promise<void>;
};

const inWindow = (demand: Demand, windowMs: number, now: number): number => {
	if (now - demand.began >= windowMs) {
		const isNext = now - demand.began < 2 * windowMs;
		demand.previous = isNext ? demand.current : 0;
		demand.current = 0;
		demand.began = isNext ? demand.began + windowMs : now;
	}

	return demand.current + demand.previous * (1 - (now - demand.began) / windowMs);
};

/**
 * Each process admits exactly, within its share of the limit; the shares are as the demand is and add up to the limit.
 * So no window has more than the limit as long as demand is steady, and a subject that asks less than that is refused
 * nowhere. While demand moves from one process to another, the shares follow within 50 ms and a window.
 */
export const createSharedDemand = ({exchange, clock}: {exchange: Exchange; clock: Clock}): SharedDemand => {
	const self = randomUUID();
	/** Subjects that the others are told of. */
	const notable = new Map<Limit, Map<string, Demand>>();
	let wasNews = false;
	const others = new Map<string, {told: Told; at: number}>();

	exchange.onMessage((message) => {
		const {from, told} = JSON.parse(message) as {from: string; told: Told};
		if (from !== self) {
			others.set(from, {told, at: clock.now().getTime()});
		}
	});

	const ofOthers = ({name}: Limit, subject: string, now: number): number => {
		let sum = 0;
		for (const [from, {told, at}] of others) {
			if (now - at > SILENT_MS) {
				others.delete(from);
			} else {
				sum += told[name]?.[subject] ?? 0;
			}
		}

		return sum;
	};

	const note = (limit: Limit, subject: string, demand: Demand) => {
		const subjects = notable.get(limit) ?? new Map<string, Demand>();
		notable.set(limit, subjects.set(subject, demand));
	};

	return {
		share: (limit, subject, demand, now) => {
			const asked = inWindow(demand, limit.windowSeconds * 1000, now) + 1;
			demand.current += 1;
			if (asked >= limit.max * NEGLIGIBLE) {
				note(limit, subject, demand);
			}

			const elsewhere = others.size === 0 ? 0 : ofOthers(limit, subject, now);
			return elsewhere === 0 ? limit.max : Math.max(1, Math.floor((limit.max * asked) / (asked + elsewhere)));
		},
		tell: () => {
			const now = clock.now().getTime();
			const told: Told = {};
			for (const [limit, subjects] of notable) {
				for (const [subject, demand] of subjects) {
					const asked = inWindow(demand, limit.windowSeconds * 1000, now);
					if (asked >= limit.max * NEGLIGIBLE) {
						told[limit.name] ??= {};
						Object.assign(told[limit.name] ?? {}, {[subject]: Math.round(asked)});
					} else {
						subjects.delete(subject);
					}
				}
			}

			// Once more after the last, so that nobody goes on counting with it.
			const isNews = Object.keys(told).length > 0;
			if (isNews || wasNews) {
				exchange.say(JSON.stringify({from: self, told}));
			}

			wasNews = isNews;
		},
		close: () => exchange.close(),
	};
};

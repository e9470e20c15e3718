import type {Position} from './position.ts';

/** Clicks that come within so long are told of together, so that an hour without a database costs little memory. */
const TOGETHER_MS = 100;

/** How many clicks of a journal wait, and since when: what the writer and the drain themselves do not know. */
export type WaitingClicks = {
	/** A click was written, and ends there. */
	note(end: Position): void;
	/** Everything before the position is in the tables. @returns how many clicks that are, as far as they are told of. */
	drainedTo(position: Position): number;
	/** Seconds that the oldest one waits; 0 where none does. */
	oldestSeconds(): number;
};

export const isBefore = (one: Position, other: Position): boolean =>
	one.segment < other.segment || (one.segment === other.segment && one.position < other.position);

type Together = {end: Position; clicks: number; since: number};

export const createWaitingClicks = (): WaitingClicks => {
	const waiting: Together[] = [];
	return {
		note: (end) => {
			const now = performance.now();
			const last = waiting.at(-1);
			if (last !== undefined && now - last.since < TOGETHER_MS) {
				last.end = end;
				last.clicks += 1;
			} else {
				waiting.push({end, clicks: 1, since: now});
			}
		},
		drainedTo: (position) => {
			const left = waiting.findIndex(({end}) => isBefore(position, end));
			const drained = waiting.splice(0, left === -1 ? waiting.length : left);
			return drained.reduce((sum, {clicks}) => sum + clicks, 0);
		},
		oldestSeconds: () => {
			const [oldest] = waiting;
			return oldest === undefined ? 0 : (performance.now() - oldest.since) / 1000;
		},
	};
};

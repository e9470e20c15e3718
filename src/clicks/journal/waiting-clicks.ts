import type {Position} from './position.ts';

/** Clicks within this time are counted together, so that an hour without a database needs little memory. */
const TOGETHER_MS = 100;

/** Counts the waiting clicks of a journal and the age of the oldest. */
export type WaitingClicks = {
	/** Adds clicks that were written up to `end`. */
	note(end: Position, clicks: number): void;
	/**
	 * Everything before the position is in the tables.
	 * @returns the number of clicks removed, at the granularity of the counts.
	 */
	drainedTo(position: Position): number;
	/** Age of the oldest waiting click in seconds; 0 if there is none. */
	oldestSeconds(): number;
};

export const isBefore = (one: Position, other: Position): boolean =>
	one.segment < other.segment || (one.segment === other.segment && one.position < other.position);

type Together = {end: Position; clicks: number; since: number};

export const createWaitingClicks = (): WaitingClicks => {
	const waiting: Together[] = [];
	return {
		note: (end, clicks) => {
			const now = performance.now();
			const last = waiting.at(-1);
			if (last !== undefined && now - last.since < TOGETHER_MS) {
				last.end = end;
				last.clicks += clicks;
			} else {
				waiting.push({end, clicks, since: now});
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

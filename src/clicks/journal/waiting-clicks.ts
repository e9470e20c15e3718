import {isBefore, type Position} from './segments.ts';

/** Clicks within this time are noted together, so that an hour without a database needs little memory. */
const TOGETHER_MS = 100;

/** The age of the clicks of a journal that wait. */
export const createWaitingClicks = () => {
	let waiting: Array<{end: Position; since: number}> = [];
	return {
		/** Clicks were written up to `end`. */
		note: (end: Position): void => {
			const now = performance.now();
			const last = waiting.at(-1);
			if (last !== undefined && now - last.since < TOGETHER_MS) {
				last.end = end;
			} else {
				waiting.push({end, since: now});
			}
		},
		/** Everything before the position is in the tables. */
		drainedTo: (position: Position): void => {
			waiting = waiting.filter(({end}) => isBefore(position, end));
		},
		/** Age of the oldest waiting click in seconds; 0 if there is none. */
		oldestSeconds: (): number => (waiting[0] === undefined ? 0 : (performance.now() - waiting[0].since) / 1000),
	};
};

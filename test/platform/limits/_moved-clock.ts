import type {Clock} from '../../../src/platform/clock.ts';

/** A clock that stands still until a test moves it. */
export type MovedClock = Clock & {move(milliseconds: number): void};

export const createMovedClock = (): MovedClock => {
	let now = Date.UTC(2026, 0, 1);
	return {
		now: () => new Date(now),
		move: (milliseconds) => {
			now += milliseconds;
		},
	};
};

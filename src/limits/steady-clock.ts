import type {Clock} from '../clock.ts';

/**
 * A clock that never runs backwards: where the given one is set back, time goes on from the latest reading, so that a
 * log keeps its order and no caller waits longer than one window.
 */
export const createSteadyClock = (clock: Clock): Clock => {
	let latest = Number.NEGATIVE_INFINITY;
	let lead = 0;
	return {
		now: () => {
			const reading = clock.now().getTime();
			if (reading + lead < latest) {
				lead = latest - reading;
			}

			latest = reading + lead;
			return new Date(latest);
		},
	};
};

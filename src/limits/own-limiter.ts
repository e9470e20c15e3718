import {createFreeAdmissions} from './free-admissions.ts';
import {createKeeper} from './keeper.ts';
import type {Limiter} from './limiter.ts';
import {createWindows, type WindowsGiven} from './windows.ts';

/** The limiter of a process that is alone on its machine. Without Redis it decides at once. */
export const createOwnLimiter = (given: Omit<WindowsGiven, 'processes'>): Limiter => {
	const alone = {...given, processes: 1};
	const windows = createWindows(alone);
	if (given.redisUrl === null) {
		return windows;
	}

	const free = createFreeAdmissions(alone);
	const keeper = createKeeper({...alone, windows});
	keeper.join(free);
	free.open();
	return {
		...windows,
		take: (limit, subject) => (free.take(limit, subject) ? 0 : keeper.take(limit, subject)),
	};
};

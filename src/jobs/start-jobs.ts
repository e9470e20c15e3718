import {forgetDeliveries} from '../identity/forget-deliveries.ts';
import {forgetExpiredMatches} from '../match/forget-matches.ts';
import type {Services} from '../services.ts';

const HOUR_MS = 3600 * 1000;

/**
 * Starts what the service does by itself: now, because some run for less than an hour at a time, and every hour.
 * @returns what ends it.
 */
export const startJobs = ({background, clock, db}: Services): (() => void) => {
	const run = () => {
		background.run('forget expired matches', forgetExpiredMatches(db, clock.now()));
		background.run('forget deliveries', forgetDeliveries({db, clock}));
	};
	run();
	const timer = setInterval(run, HOUR_MS).unref();
	return () => clearInterval(timer);
};

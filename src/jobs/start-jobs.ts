import {runBillingJobs} from '../billing/jobs/billing-jobs.ts';
import {dropOldClicks} from '../clicks/drop-old-clicks.ts';
import {rollUp} from '../clicks/roll-up.ts';
import {forgetDeliveries} from '../identity/forget-deliveries.ts';
import {forgetExpiredMatches} from '../match/forget-matches.ts';
import type {Services} from '../services.ts';

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Starts what the service does by itself: now, because some run for less than an hour at a time, and then at intervals.
 * @returns what ends it.
 */
export const startJobs = (services: Services): (() => void) => {
	const {background, clock, config, db} = services;
	let stopping = false;
	let isBilling = false;
	const hourly = () => {
		background.run('forget expired matches', forgetExpiredMatches(db, clock.now()));
		background.run('forget deliveries', forgetDeliveries({db, clock}));
		background.run('drop old clicks', dropOldClicks(db, {now: clock.now(), days: config.clickRetentionDays}));
	};
	/** One that waits for a gateway is not joined by the next one. */
	const bill = async () => {
		if (isBilling) {
			return;
		}

		isBilling = true;
		try {
			await runBillingJobs(services, () => stopping);
		} finally {
			isBilling = false;
		}
	};
	const minutely = () => {
		background.run(
			'roll up counts',
			rollUp(db, () => stopping),
		);
		background.run('do what time brings to billing', bill());
	};
	hourly();
	minutely();
	const timers = [setInterval(hourly, HOUR_MS).unref(), setInterval(minutely, MINUTE_MS).unref()];
	return () => {
		stopping = true;
		timers.forEach(clearInterval);
	};
};

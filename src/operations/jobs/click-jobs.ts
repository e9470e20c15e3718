import type {Services} from '../../services.ts';
import {rollUp} from '../../visits/reports/rollups/roll-up.ts';
import {changingFrom} from '../../visits/resolution/signals.ts';

/**
 * Rolls counts up, and then drops old clicks if due. A month is dropped only when it is completely rolled up, and in
 * parallel one would find the other's lock.
 */
export const createClickJobs = (
	{background, clicks, clock, config, db, log, metrics}: Services,
	isStopping: () => boolean,
): {run(): Promise<void>; expectDrop(): void} => {
	let isDropDue = false;
	const drop = async (): Promise<void> => {
		if (!isDropDue || isStopping()) {
			return;
		}

		isDropDue = false;
		const work = clicks.dropOld(db, {now: clock.now(), days: config.clickRetentionDays});
		const {left} = await metrics.job('drop_clicks', work, (result) => result.left === null);
		if (left !== null) {
			log.info({reason: left}, 'could not drop old clicks; retrying later');
		}

		isDropDue ||= left === 'uncounted';
	};

	return {
		run: async () => {
			const rolledUp = metrics.job('roll_up', rollUp(db, isStopping, {changingFrom: changingFrom(clock.now())}));
			background.run('roll up counts', rolledUp);
			background.run('change clicks', clicks.applyChanges());
			// Months counted before a fault are dropped anyway.
			const dropped = rolledUp.catch(() => {}).then(drop);
			background.run('drop old clicks', dropped);
			await Promise.allSettled([dropped]);
		},
		/** Schedules dropping old clicks for the next run, and for later ones while counting is incomplete or locked. */
		expectDrop: () => {
			isDropDue = true;
		},
	};
};

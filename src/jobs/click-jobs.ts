import {dropOldClicks} from '../clicks/drop-old-clicks.ts';
import {rollUp} from '../clicks/roll-up.ts';
import type {Services} from '../services.ts';

/**
 * Rolls counts up, and after that drops old clicks where that is due: a month goes only once all of it is counted, and
 * side by side one would find the lock of the other.
 */
export const createClickJobs = (
	{background, clock, config, db, log, metrics}: Services,
	isStopping: () => boolean,
): {run(): void; expectDrop(): void} => {
	let isDropDue = false;
	const drop = async (): Promise<void> => {
		if (!isDropDue || isStopping()) {
			return;
		}

		isDropDue = false;
		const work = dropOldClicks(db, {now: clock.now(), days: config.clickRetentionDays});
		const {left} = await metrics.job('drop_clicks', work, (result) => result.left === null);
		if (left !== null) {
			log.info({reason: left}, 'could not drop old clicks; retrying later');
		}

		isDropDue ||= left === 'uncounted';
	};

	return {
		run: () => {
			const rolledUp = metrics.job('roll_up', rollUp(db, isStopping));
			background.run('roll up counts', rolledUp);
			// What was counted before a fault goes all the same.
			background.run('drop old clicks', rolledUp.catch(() => {}).then(drop));
		},
		/** Has the next run drop old clicks, and those after it where counting is not through or another process is at it. */
		expectDrop: () => {
			isDropDue = true;
		},
	};
};

import {runBillingJobs} from '../../accounts/billing/jobs/billing-jobs.ts';
import {DAY_MS, HOUR_MS, MINUTE_MS} from '../../platform/clock.ts';
import {retention} from '../../platform/config/policies.ts';
import {Loop} from '../../platform/loop.ts';
import type {Services} from '../../services.ts';
import {forgetExpiredMatches} from '../../visits/matches/match-clicks.ts';
import {rollUp} from '../../visits/reports/rollups/roll-up.ts';
import {changingFrom} from '../../visits/resolution/signals.ts';
import {startWebhooks} from '../../visits/webhooks/start-webhooks.ts';
import {countFirstOpens} from '../app-status/app-status-store.ts';
import {applyRetention, retentionRules} from './retention.ts';

type Job = {
	/** Its label in metrics and in the log. */
	name: string;
	every: number;
	/** The job whose end it awaits, successful or not, instead of a time of its own. */
	after?: string;
	/** Absent from metrics, or measured by itself. */
	isUnmeasured?: true;
	run(): Promise<unknown>;
};

const jobsOf = (services: Services, isStopping: () => boolean): Job[] => {
	const {abuseFigures, associationCache, clock, countries, db, relayRanges} = services;
	const clicks = createClickJobs(services, isStopping);
	const hourly = {every: HOUR_MS};
	const minutely = {every: MINUTE_MS};
	return [
		{...hourly, name: 'forget_matches', run: () => forgetExpiredMatches(db, clock.now())},
		...[...new Set(retentionRules.map(({job}) => job))].map((name) => ({
			...hourly,
			name,
			// A device is kept as long as its events.
			...(name === 'forget_devices' ? {after: 'forget_events'} : {}),
			run: () => applyRetention(db, clock.now(), name),
		})),
		{
			...hourly,
			name: 'count_first_opens',
			run: () => {
				const now = clock.now();
				const oldest = new Date(now.getTime() - retention().appCountDays * DAY_MS);
				return countFirstOpens(db, {oldest, now, isStopping});
			},
		},
		{...hourly, name: 'drop_clicks', isUnmeasured: true, run: async () => clicks.expectDrop()},
		{...minutely, name: 'roll_up', isUnmeasured: true, run: clicks.run},
		{...minutely, name: 'billing', run: () => runBillingJobs(services, isStopping)},
		// Without changes nothing is rebuilt; freed room goes to waiting apps.
		{...minutely, name: 'build_association_files', isUnmeasured: true, run: associationCache.shared},
		// Lists are in use within a minute of their change, with the time of reading them.
		{every: MINUTE_MS / 3, name: 'check_links', isUnmeasured: true, run: () => abuseFigures.refresh(isStopping)},
		{...minutely, name: 'read_geoip_file', isUnmeasured: true, run: countries.refresh},
		{...minutely, name: 'read_relay_ranges_file', isUnmeasured: true, run: relayRanges.refresh},
	];
};

/**
 * Starts the periodic jobs: at once, because some servers run for less than an hour at a time, and then at intervals.
 * Runs of one job do not overlap.
 * @returns a function that stops them.
 */
export const startJobs = (services: Services): (() => void) => {
	const {background, metrics} = services;
	let isStopping = false;
	const jobs = jobsOf(services, () => isStopping);

	/** Runs a job, and then those that follow it. */
	const begin = async ({name, isUnmeasured, run}: Job, previous: Promise<unknown> = Promise.resolve()) => {
		const work = previous.catch(() => {}).then(() => (isUnmeasured ? run() : metrics.job(name, run())));
		background.run(`run the job ${name}`, work);
		const following = jobs.filter(({after}) => after === name).map((job) => begin(job, work));
		await Promise.allSettled([work, ...following]);
	};

	const loops = jobs
		.filter(({after}) => after === undefined)
		.map((job) => new Loop(() => begin(job).then(() => job.every)));
	for (const loop of loops) {
		void loop.run();
	}

	const stopWebhooks = startWebhooks(services);
	return () => {
		isStopping = true;
		stopWebhooks();
		for (const loop of loops) {
			void loop.stop();
		}
	};
};

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

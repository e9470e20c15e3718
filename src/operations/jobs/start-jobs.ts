import {forgetAudit} from '../../accounts/audit/forget-audit.ts';
import {runBillingJobs} from '../../accounts/billing/jobs/billing-jobs.ts';
import {forgetDeliveries} from '../../accounts/identity/forget-deliveries.ts';
import {forgetUnknownCodes} from '../../links/domains/unknown-code-store.ts';
import {HOUR_MS, MINUTE_MS} from '../../platform/clock.ts';
import {forgetRefusals} from '../../platform/limits/refusals.ts';
import type {Services} from '../../services.ts';
import {forgetDevices} from '../../visits/devices/forget-devices.ts';
import {forgetAttempts} from '../../visits/matches/forget-attempts.ts';
import {forgetExpiredMatches} from '../../visits/matches/forget-matches.ts';
import {forgetEvents} from '../../visits/sdk/forget-events.ts';
import {forgetWebhookDeliveries} from '../../visits/webhooks/forget-deliveries.ts';
import {startWebhooks} from '../../visits/webhooks/start-webhooks.ts';
import {createClickJobs} from './click-jobs.ts';

/**
 * Starts the periodic jobs: at once, because some servers run for less than an hour at a time, and then at intervals.
 * @returns a function that stops them.
 */
export const startJobs = (services: Services): (() => void) => {
	const {associationCache, background, clock, countries, db, metrics, relayRanges} = services;
	let stopping = false;
	let isBilling = false;
	const clicks = createClickJobs(services, () => stopping);
	const hourly = () => {
		const now = clock.now();
		background.run('forget expired matches', metrics.job('forget_matches', forgetExpiredMatches(db, now)));
		background.run('forget requests for matches', metrics.job('forget_attempts', forgetAttempts(db, now)));
		// A device is kept as long as its events are.
		const forgotten = metrics.job('forget_events', forgetEvents(db, now));
		background.run('forget events', forgotten);
		const devices = forgotten.catch(() => {}).then(() => metrics.job('forget_devices', forgetDevices(db, now)));
		background.run('forget devices', devices);
		background.run('forget audit records', metrics.job('forget_audit', forgetAudit(db, now)));
		background.run('forget unknown codes', metrics.job('forget_unknown_codes', forgetUnknownCodes(db, now)));
		background.run('forget deliveries', metrics.job('forget_deliveries', forgetDeliveries({db, clock})));
		background.run('forget webhooks', metrics.job('forget_webhooks', forgetWebhookDeliveries(db, now)));
		background.run('forget refusals', metrics.job('forget_refusals', forgetRefusals(db, now)));
		clicks.expectDrop();
	};
	/** Runs of a job that waits for a gateway do not overlap. */
	const bill = async () => {
		if (isBilling) {
			return;
		}

		isBilling = true;
		try {
			await metrics.job(
				'billing',
				runBillingJobs(services, () => stopping),
			);
		} finally {
			isBilling = false;
		}
	};
	const minutely = () => {
		clicks.run();
		// Without changes nothing is rebuilt; freed room goes to waiting apps.
		background.run('build the association files', associationCache.shared());
		background.run('run scheduled billing tasks', bill());
		background.run('read GEOIP_FILE', countries.refresh());
		background.run('read RELAY_RANGES_FILE', relayRanges.refresh());
	};
	hourly();
	minutely();
	const stopWebhooks = startWebhooks(services);
	const timers = [setInterval(hourly, HOUR_MS).unref(), setInterval(minutely, MINUTE_MS).unref()];
	return () => {
		stopping = true;
		stopWebhooks();
		timers.forEach(clearInterval);
	};
};

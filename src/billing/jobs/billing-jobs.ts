import type {Services} from '../../services.ts';
import {giveBackPayments} from '../paymob/give-back.ts';
import {reprocessUnmatched} from '../unmatched-events.ts';
import {cancelSuspended} from './cancel-suspended.ts';
import {endPeriods} from './end-periods.ts';
import {inquireAttempts} from './inquire-attempts.ts';
import {renewSubscriptions} from './renew-subscriptions.ts';

/**
 * What time brings to billing, in this order: what was told but matched nothing, what nobody told, what ends, what goes
 * on, what is given back. Processes may run it together: each organization is one's at a time by its lease, and what may
 * happen only once is claimed in the database.
 */
export const runBillingJobs = async (services: Services, isStopping = () => false): Promise<void> => {
	const run = {services, isStopping};
	const {paymob} = services;
	if (paymob !== null) {
		await reprocessUnmatched(services, 'GATEWAY_B', null);
	}

	await inquireAttempts(run);
	await cancelSuspended(run);
	await endPeriods(run);
	await renewSubscriptions(run);
	if (paymob !== null) {
		await giveBackPayments(paymob, isStopping);
	}
};

import {refundPayments} from '../paymob/refund-payments.ts';
import {type BillingServices, replayUnmatched} from '../replay-events.ts';
import {cancelSuspended} from './cancel-suspended.ts';
import {endPeriods} from './end-periods.ts';
import {inquireAttempts} from './inquire-attempts.ts';
import {renewSubscriptions} from './renew-subscriptions.ts';

/**
 * The jobs of billing, in order: unmatched events, inquiries, ends, renewals, refunds. Processes may run them at once:
 * leases separate organizations, and what may happen only once is claimed in the database.
 */
export const runBillingJobs = async (services: BillingServices, isStopping = () => false): Promise<void> => {
	const run = {services, isStopping};
	const {paymob} = services;
	if (paymob !== null) {
		await replayUnmatched(services, 'GATEWAY_B', null);
	}

	await inquireAttempts(run);
	await cancelSuspended(run);
	await endPeriods(run);
	await renewSubscriptions(run);
	if (paymob !== null) {
		await refundPayments(paymob, isStopping);
	}
};

import {MINUTE_MS} from '../../../platform/clock.ts';
import {systemCaller} from '../../audit/audit-log.ts';
import {createOrganizationStore} from '../../organizations/organization-store.ts';
import {createAttemptStore} from '../attempt-store.ts';
import {cancelSubscription} from '../cancel-subscription.ts';
import {CHECKOUT_MINUTES, inquireAttempt, PATIENCE_MINUTES} from '../paymob/inquire-attempt.ts';
import type {Paymob} from '../paymob/paymob.ts';
import {refundPayments} from '../paymob/refund-payments.ts';
import {type BillingServices, replayUnmatched} from '../replay-events.ts';
import {createSubscriptionStore} from '../subscription-store.ts';
import {endPeriods} from './end-periods.ts';
import {type BillingRun, perOrganization} from './per-organization.ts';
import {renewSubscriptions} from './renew-subscriptions.ts';

/** Most inquiries of one run. */
const BATCH = 100;

/**
 * Asks Paymob about attempts without a callback for 15 minutes, because it may not repeat a failed one (contract/paymob
 * 7). Superseded attempts included: they could be paid until they expired.
 */
const inquireAttempts = async (run: BillingRun, paymob: Paymob): Promise<void> => {
	const before = new Date(paymob.clock.now().getTime() - PATIENCE_MINUTES * MINUTE_MS);
	const lifeMinutes = CHECKOUT_MINUTES + PATIENCE_MINUTES;
	for (const attempt of await createAttemptStore(paymob.db).listUnreported({before, lifeMinutes}, BATCH)) {
		await perOrganization(run, 'inquire about an attempt', [attempt.organizationId], () =>
			inquireAttempt(paymob, attempt),
		);
	}
};

/**
 * Cancels the subscriptions of suspended organizations at the end of their period (contract/billing 9). A failure is
 * tried again with the next run. An organization that is activated again can resume.
 */
export const cancelSuspended = async ({services, isStopping}: BillingRun): Promise<void> => {
	const {db, log} = services;
	for (const organizationId of await createSubscriptionStore(db).listSuspended()) {
		if (isStopping()) {
			return;
		}

		try {
			const organization = await createOrganizationStore(db).findById(organizationId);
			if (organization?.status === 'SUSPENDED') {
				await cancelSubscription(services, {organization, by: systemCaller});
			}
		} catch (error) {
			log.warn({err: error, organizationId}, 'the subscription of a suspended organization could not be canceled');
		}
	}
};

/**
 * The jobs of billing, in order: unmatched events, inquiries, ends, renewals, refunds. Processes may run them at once:
 * leases separate organizations, and what may happen only once is claimed in the database.
 */
export const runBillingJobs = async (services: BillingServices, isStopping = () => false): Promise<void> => {
	const run = {services, isStopping};
	const {paymob} = services;
	if (paymob !== null) {
		await replayUnmatched(services, 'GATEWAY_B', null);
		await inquireAttempts(run, paymob);
	}

	await cancelSuspended(run);
	await endPeriods(run);
	if (paymob !== null) {
		await renewSubscriptions(run, paymob);
		await refundPayments(paymob, isStopping);
	}
};
